# rounds.gp: draws the plots of dpne-mr beside dpne and dpsu from the data that the
# benchmark wrote: figures 1 to 4 of the DPNE paper (Kim et al. 2021).
#
#   gnuplot -c rounds.gp FOLDER
#
# Colours are Okabe and Ito's, told apart by readers who don't see all colours; points and
# dashes say the same once more.

cd ARG1
set encoding utf8
set style line 1 lc rgb "#0072B2" lw 3 pt 7 ps 0.7
set style line 2 lc rgb "#009E73" lw 2 pt 5 ps 0.7
set style line 3 lc rgb "#D55E00" lw 2 pt 9 ps 0.8
set style line 4 lc rgb "#56B4E9" lw 1.6 pt 6 ps 0.7 dt 2
set style line 5 lc rgb "#CC79A7" lw 1.6 pt 12 ps 0.8 dt 2
set style line 6 lc rgb "#E69F00" lw 1.6 pt 11 ps 0.8 dt 3
set style line 7 lc rgb "#000000" lw 1.6 pt 2 ps 0.8
set style line 8 lc rgb "#000000" lw 1.3 dt 4
set style line 11 lc rgb "#0072B2" lw 1.3 pt 6 ps 0.7 dt 2
set style line 12 lc rgb "#009E73" lw 1.3 pt 4 ps 0.7 dt 2
set style line 13 lc rgb "#D55E00" lw 1.3 pt 8 ps 0.8 dt 2

array method[7] = ["dpne-mr balanced", "dpne-mr adaptive", "dpne", "dpsu-all", "dpsu-even", "dpsu-single", "dpne-mr ratio"]
array dataset[2] = ["msnbc", "git"]
array label[2] = ["MSNBC, epsilon 1, T 6", "git, epsilon 4, T 9"]
array short[2] = ["MSNBC, T 6", "git, T 9"]
block(set, i) = '"'.dataset[set].", ".method[i].'"'
positive(y) = y > 0 ? y : NaN

set grid lc rgb "#dddddd" lt 1 lw 0.5
set border 3
set tics nomirror

# Panels side by side, the legend of all on the right; two rows where there are four.
wide = "set term svg size 1060,420 dynamic font 'DejaVu Sans,Arial,sans-serif,12' background '#ffffff'; set tmargin at screen 0.9; set bmargin at screen 0.15"
high = "set term svg size 1060,760 dynamic font 'DejaVu Sans,Arial,sans-serif,12' background '#ffffff'"
margins(panel) = sprintf("set lmargin at screen %f; set rmargin at screen %f", 0.085 + 0.345 * panel, 0.385 + 0.345 * panel)
row(number) = sprintf("set tmargin at screen %f; set bmargin at screen %f", 0.95 - 0.49 * number, 0.58 - 0.49 * number)
legend = "set key at screen 0.75, screen 0.9 left top Left reverse samplen 2.5 spacing 1.3 font ',11'"
grams = "n-grams"

eval wide
eval legend
set logscale y
set format y "%.0s%c"
set format x "%g"
set xtics 1
set xlabel "length"
set output "rounds_lengths.svg"
set multiplot
do for [set = 1:2] {
    eval margins(set - 1)
    set title label[set]
    set xrange [0.7:(set == 1 ? 6.3 : 9.3)]
    set yrange [(set == 1 ? 10 : 1):*]
    if (set == 1) { set ylabel grams; unset key } else { unset ylabel; set key }
    plot for [i=1:6] "rounds_lengths.dat" index block(set, i) using 1:(positive($2)) with linespoints ls i \
        title method[i].(i == 6 ? ", one call a length" : "")
}
unset multiplot

set output "rounds_pruning.svg"
set multiplot
pruned(set, i, pruning) = '"'.dataset[set].", ".method[i].", ".pruning.'"'
do for [set = 1:2] {
    eval margins(set - 1)
    set title label[set]
    set xrange [0.7:(set == 1 ? 6.3 : 9.3)]
    set yrange [(set == 1 ? 10 : 1):*]
    if (set == 1) { set ylabel grams; unset key } else { unset ylabel; set key }
    plot for [i=1:3] "rounds_pruning.dat" index pruned(set, i, "both") using 1:(positive($2)) with linespoints ls i \
        title method[i].", both sides", \
        for [i=1:3] "rounds_pruning.dat" index pruned(set, i, "single") using 1:(positive($2)) with linespoints ls 10 + i \
        title method[i].", single side"
}
unset multiplot

set output "rounds_t.svg"
set multiplot
set xlabel "T"
do for [set = 1:2] {
    eval margins(set - 1)
    set title (set == 1 ? "MSNBC, epsilon 1" : "git, epsilon 4")
    set xrange [2.8:9.2]
    unset logscale y
    set format y "%g"
    set yrange [0:*]
    if (set == 1) { set ylabel grams." in all"; unset key } else { unset ylabel; set key }
    plot for [i=1:3] "rounds_t.dat" index block(set, i) using 1:2:3 with yerrorlines ls i title method[i]
}
unset multiplot

eval high
set logscale y
set format y "%.0s%c"

# figure 2
set output "rounds_bound_epsilon.svg"
set multiplot
do for [set = 1:2] {
    eval row(set - 1)
    set yrange [100:*]
    eval margins(0)
    set logscale x
    set xtics auto
    set xrange [(set == 1 ? 0.9 : 9):(set == 1 ? 110 : 1100)]
    set xlabel (set == 1 ? "" : "bound on a user's n-grams of a length, Δ₀ (of words in dpne-mr)")
    set ylabel grams." in all"
    set title label[set]
    unset key
    plot for [i=1:5] "rounds_bound.dat" index block(set, i) using 1:2 with linespoints ls i
    eval margins(1)
    set xrange [0.45:9]
    set xtics (0.5, 1, 2, 4, 8)
    set xlabel (set == 1 ? "" : "epsilon")
    unset ylabel
    set title short[set].", Δ₀ ".(set == 1 ? "10" : "100")
    if (set == 1) { set key at screen 0.75, screen 0.95 }
    plot for [i=1:4] "rounds_epsilon.dat" index block(set, i) using 1:2 with linespoints ls i title method[i], \
        NaN with linespoints ls 5 title method[5]
}
unset multiplot

# figure 3
set output "rounds_eta_c.svg"
set multiplot
unset logscale y
set format y "%g"
set yrange [0:*]
do for [set = 1:2] {
    eval row(set - 1)
    eval margins(0)
    set logscale x
    set xtics auto
    set xrange [0.0008:0.13]
    set xlabel (set == 1 ? "" : "spurious n-grams, eta")
    set ylabel grams." in all"
    set title label[set]
    unset key
    plot for [i=1:3] "rounds_eta.dat" index block(set, i) using 1:2 with linespoints ls i
    eval margins(1)
    unset logscale x
    set xtics 0.2
    set xrange [0.5:1.7]
    set xlabel (set == 1 ? "" : "c: noise of a length by that of the length before")
    unset ylabel
    if (set == 1) { set key at screen 0.75, screen 0.95 }
    plot "rounds_eta.dat" index block(set, 1) every ::1::1 using (0.5):2:(1.2):(0) with vectors nohead ls 1 title method[1], \
        "rounds_eta.dat" index block(set, 2) every ::1::1 using (0.5):2:(1.2):(0) with vectors nohead ls 2 title method[2], \
        "rounds_c.dat" index block(set, 3) using 1:2 with linespoints ls 3 title method[3], \
        "rounds_c.dat" index block(set, 7) using 1:2 with linespoints ls 7 title "dpne-mr of ratio c"
}
unset multiplot

# figure 4, right; where fewer than five n-grams have K users, their share says little
set output "rounds_coverage.svg"
set multiplot
set logscale x
set xrange [9:1100]
set yrange [0:1.02]
set format y "%g"
set xtics (10, 30, 100, 300, 1000)
array length[5] = [2, 4, 6, 7, 8]
array look[5] = [4, 5, 1, 2, 3]
covered(set, i, n) = sprintf('"%s, %s, length %d"', dataset[set], method[i], n)
third(panel) = sprintf("set lmargin at screen %f; set rmargin at screen %f", 0.065 + 0.265 * panel, 0.305 + 0.265 * panel)
array column[3] = [3, 1, 2]
do for [set = 1:2] {
    eval row(set - 1)
    do for [panel = 1:3] {
        eval third(panel - 1)
        set title (set == 1 ? "MSNBC, epsilon 1: " : "git, epsilon 4: ").method[column[panel]] font ",11"
        set xlabel (set == 1 ? "" : "K")
        if (panel == 1) { set ylabel "share of the n-grams of K users" } else { unset ylabel }
        if (set == 1 && panel == 3) { set key at screen 0.85, screen 0.95 } else { unset key }
        plot for [i=1:5] "rounds_coverage.dat" index covered(set, column[panel], length[i]) using 1:($3 >= 5 ? $2 : NaN) \
            with linespoints ls look[i] title sprintf("length %d", length[i]), 0.9 ls 8 title "0.9"
    }
}
unset multiplot
