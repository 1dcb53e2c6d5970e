# style.gp: what all plots of doc/figures have in common; loaded by each script that draws.
#
#   gnuplot -c SCRIPT.gp FOLDER
#
# A figure is 800 pixels wide, which on paper is the width of a page at a legible size.  Its
# legend stands above its panels, so that it lies over no curve.  Colours are Okabe and Ito's,
# told apart by readers who don't see all colours; dashes and points say the same once more,
# for who prints in grey.  A method has one line type in all figures, and type + 10 is a
# variant of it, open and dashed.
#
# start() and finish() enclose a figure; between them eval cell(column, row) places the next
# panel, and eval legend(lines, letters of the longest name), then a plot of names, draws the legend.
# Beside each figure NAME.from tells the files that it is drawn from, for svg.pl.

set encoding utf8

array hue[7] = ["#0072B2", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#E69F00", "#000000"]
array full[7] = [7, 5, 9, 6, 13, 11, 2]
array open[7] = [6, 4, 8, 6, 12, 10, 1]
array dash[7] = ["1", "(14,4)", "1", "(8,3)", "(12,3,3,3)", "(6,3)", "1"]
array thick[7] = [2.4, 2, 1.7, 1.7, 1.7, 1.7, 1.5]
do for [i = 1:7] {
    eval sprintf("set linetype %d lc rgb '%s' lw %g pt %d ps 0.65 dt %s", i, hue[i], thick[i], full[i], dash[i])
    eval sprintf("set linetype %d lc rgb '%s' lw 1.5 pt %d ps 0.65 dt (3,3)", 10 + i, hue[i], open[i])
}
set linetype 9 lc rgb "#000000" lw 1.4 pt 0 ps 0 dt (10,3,2,3)

# The figure's size and its grid of panels, in pixels; gap is between columns.
width = 800
height = 400
columns = 2
rows = 1
above = 60
gap = 60
first = 72
foot = 56
head = 28

start(name, high, wide, deep, over, from) = sprintf("height = %d; columns = %d; rows = %d; above = %d; ", high, wide, deep, over) \
    ."gap = 60; first = 72; foot = 56; set print '".name.".from'; print '".from."'; set print; " \
    .sprintf("set term svg size 800,%d fixed font 'DejaVu Sans,Arial,sans-serif,13' background '#ffffff'; ", high) \
    ."set output '".name.".svg'; set multiplot; ".axes
axes = "set border 3 lw 1; set tics nomirror out scale 0.6; set grid back lc rgb '#dddddd' lt 1 dt 1 lw 0.6; \
    set pointintervalbox 0; unset key; set format '%g'; set title offset 0,-0.7; \
    set xlabel offset 0,0.7; set xtics offset 0,0.25; set ylabel offset 0.7"
finish = "unset multiplot; unset output; reset"

across(c) = (width - first - 14 - gap * (columns - 1.0)) / columns
down(r) = (height - above - (head + foot) * rows + 0.0) / rows
left(c) = first + (c - 1) * (across(c) + gap)
top(r) = above + head + (r - 1) * (down(r) + head + foot)
cell(c, r) = sprintf("set lmargin at screen %f; set rmargin at screen %f; set tmargin at screen %f; set bmargin at screen %f", \
    left(c) / width, (left(c) + across(c)) / width, 1 - top(r) / height, 1 - (top(r) + down(r)) / height)

# The legend is a plot of its own without axes, whose curves have names and no points.
legend(lines, longest) = sprintf("unset logscale; unset border; unset tics; unset grid; unset title; unset xlabel; unset ylabel; \
    set xrange [0:1]; set yrange [0:1]; set lmargin at screen 0; set rmargin at screen 1; set bmargin at screen 0; set tmargin at screen 1; \
    set key at screen 0.5, screen %f center top vertical maxrows %d Left reverse samplen 3.2 spacing 1.1 width %f font ',12'", \
    1 - 4.0 / height, lines, -0.13 * longest)

# What a logarithmic axis can show; and bars of one standard deviation, which are vectors,
# because gnuplot's own bars clear a space around each point.
positive(y) = y > 0 ? y : NaN
low(mean, sd) = mean > sd ? mean - sd : mean / 1000.0
high(mean, sd) = mean + sd - low(mean, sd)
bars = "using 1:(low($2, $3)):(0):(high($2, $3)) with vectors nohead lw 1 dt 1"
