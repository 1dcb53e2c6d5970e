# local.gp: draws the plots of ldp_frequent_terms from the data that the benchmark wrote.
#
#   gnuplot -c local.gp FOLDER
#
# Colours are Okabe and Ito's, told apart by readers who don't see all colours; points and
# dashes say the same once more.

cd ARG1
set encoding utf8
set style line 1 lc rgb "#0072B2" lw 3 pt 7 ps 0.7
set style line 2 lc rgb "#009E73" lw 2 pt 5 ps 0.7
set style line 3 lc rgb "#56B4E9" lw 2 pt 6 ps 0.7
set style line 4 lc rgb "#D55E00" lw 2 pt 9 ps 0.8
set style line 5 lc rgb "#CC79A7" lw 2 pt 13 ps 0.8
set style line 6 lc rgb "#E69F00" lw 2 pt 11 ps 0.8
set style line 7 lc rgb "#000000" lw 2 dt 4
set style line 11 lc rgb "#0072B2" lw 1.3 pt 6 ps 0.7 dt 2
set style line 12 lc rgb "#009E73" lw 1.3 pt 4 ps 0.7 dt 2
set style line 13 lc rgb "#56B4E9" lw 1.3 pt 8 ps 0.7 dt 2

array method[7] = ["privtrie", "ibsl", "bsl", "pem", "treehist", "rappor", "given"]
block(name, epsilon) = sprintf('"%s, epsilon %d"', name, epsilon)
given = "no method: 1,000 terms given"

set term svg size 1060,700 dynamic font "DejaVu Sans,Arial,sans-serif,12" background "#ffffff"
set grid lc rgb "#dddddd" lt 1 lw 0.5
set border 3
set tics nomirror
set key at screen 0.72, screen 0.93 left top Left reverse samplen 2.5 spacing 1.4 font ",11"

# Four panels, the legend of all on the right.
across(panel) = (panel - 1) % 2
down(panel) = (panel - 1) / 2
margins(panel) = sprintf("set lmargin at screen %f; set rmargin at screen %f; set tmargin at screen %f; set bmargin at screen %f", \
    0.075 + 0.325 * across(panel), 0.375 + 0.325 * across(panel), 0.94 - 0.475 * down(panel), 0.565 - 0.475 * down(panel))
labels(panel) = (down(panel) ? "set xlabel 'k'; set format x '%g';" : "unset xlabel; set format x '';") \
    .(across(panel) ? "unset ylabel; set format y '';" : "set ylabel 'F-score'; set format y '%g';") \
    .(panel == 2 ? "set key;" : "unset key;").sprintf("set title '%s, epsilon %d' offset 0,-0.6", dataset, panel)
set xrange [5:105]
set yrange [0:1]
set xtics 10, 20, 90

do for [file in "reddit zipf"] {
    dataset = file eq "reddit" ? "reddit, 1,087,693 users" : "zipf, 100,000 users"
    methods = file eq "reddit" ? 5 : 6
    data = "terms_fscore_".file.".dat"
    set output "terms_fscore_".file.".svg"
    set multiplot
    do for [epsilon = 1:4] {
        eval margins(epsilon)
        eval labels(epsilon)
        plot for [i=1:methods] data index block(method[i], epsilon) using 1:2:3 with yerrorlines ls i title method[i], \
            data index block(method[7], epsilon) using 1:2 with lines ls 7 title given
    }
    unset multiplot
}

set output "terms_consistency.svg"
dataset = "reddit, 1,087,693 users"
set multiplot
do for [epsilon = 1:4] {
    eval margins(epsilon)
    eval labels(epsilon)
    plot for [i=1:6] "terms_consistency.dat" index block(method[(i + 1) / 2].(i % 2 ? "" : " without"), epsilon) \
        using 1:2:3 with yerrorlines ls (i + 1) / 2 + (i % 2 ? 0 : 10) \
        title method[(i + 1) / 2].(i % 2 ? "" : ", consistency => false")
}
unset multiplot

set output "terms_users.svg"
set term svg size 1060,400 dynamic font "DejaVu Sans,Arial,sans-serif,12" background "#ffffff"
set multiplot
set tmargin at screen 0.9
set bmargin at screen 0.16
set xlabel "k"
set format x "%g"
array population[3] = ["reddit", "reddit7", "reddit4585"]
array label[3] = ["1.09 M users, 189,695 terms", "7.6 M users, 189,695 terms", "7.6 M users, 4,585 terms"]
do for [panel = 1:3] {
    set lmargin at screen 0.06 + 0.235 * (panel - 1)
    set rmargin at screen 0.275 + 0.235 * (panel - 1)
    if (panel == 1) { set ylabel "F-score"; set format y "%g" } else { unset ylabel; set format y "" }
    if (panel == 3) { set key at screen 0.765, screen 0.9 } else { unset key }
    set title population[panel].": ".label[panel] font ",11" offset 0,-0.6
    data = "terms_fscore_".population[panel].".dat"
    plot for [i=1:5] data index block(method[i], 2) using 1:2:3 with yerrorlines ls i title method[i], \
        data index block(method[7], 2) using 1:2 with lines ls 7 title given
}
unset multiplot

set output "terms_counts.svg"
set term svg size 1060,520 dynamic font "DejaVu Sans,Arial,sans-serif,12" background "#ffffff"
set multiplot
set format y "%.0s%c"
set format x "%g"
set xrange [0:31]
set yrange [*:*]
set logscale y
set tmargin at screen 0.92
set bmargin at screen 0.25
unset xlabel
set xtics rotate by 60 right font ",9"
do for [panel = 1:2] {
    set lmargin at screen panel == 1 ? 0.075 : 0.57
    set rmargin at screen panel == 1 ? 0.495 : 0.99
    if (panel == 1) { set ylabel "users" } else { unset ylabel }
    if (panel == 1) { unset key } else { set key inside top right font ",11" }
    set title (panel == 1 ? "reddit, 1,087,693 users" : "reddit7, 7,613,851 users").", privtrie, epsilon 2" offset 0,-0.6
    data = panel == 1 ? '"reddit"' : '"reddit7"'
    plot "terms_counts.dat" index data using 1:3:xtic(2) with linespoints lc rgb "#000000" lw 1 pt 1 ps 0.6 title "true count", \
        "terms_counts.dat" index data using 1:4:5 with yerrorbars ls 1 lw 1.5 title "estimate and stddev"
}
unset multiplot
