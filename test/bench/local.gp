# local.gp: the plots of ldp_frequent_terms from the data that the benchmark wrote: figures of
# the PrivTrie paper's section V (Wang et al. 2018).
#
#   gnuplot -c local.gp FOLDER, beside style.gp

cd ARG1
load ARG2."style.gp"

array method[7] = ["privtrie", "ibsl", "bsl", "pem", "treehist", "rappor", "given"]
array type[7] = [1, 2, 14, 3, 5, 6, 9]
block(name, epsilon) = sprintf('"%s, epsilon %d"', name, epsilon)
given = "given: no method"

# Four panels, one an epsilon.
quarter = "set title sprintf('%s, ε = %d', dataset, epsilon); set xlabel 'k'; set xrange [5:105]; set xtics 10, 20, 90; set yrange [0:1.02]; \
    if (epsilon % 2) { set ylabel 'F-score' } else { unset ylabel }"

do for [file in "reddit zipf"] {
    dataset = file eq "reddit" ? "reddit, 1.09 million users" : "zipf, 100,000 users"
    methods = file eq "reddit" ? 5 : 6
    data = "terms_fscore_".file.".dat"
    eval start("terms_fscore_".file, 640, 2, 2, 50, data)
    do for [epsilon = 1:4] {
        eval cell(epsilon % 2 ? 1 : 2, (epsilon + 1) / 2)
        eval quarter
        plot for [i=1:methods] data index block(method[i], epsilon) @bars lt type[i], \
            data index block(method[7], epsilon) using 1:2 with lines lt 9, \
            for [i=1:methods] data index block(method[i], epsilon) using 1:2 with linespoints lt type[i]
    }
    eval legend(2, 16)
    plot for [i=1:methods] NaN with linespoints lt type[i] title method[i], NaN with lines lt 9 title given
    eval finish
}

eval start("terms_consistency", 640, 2, 2, 50, "terms_consistency.dat")
dataset = "reddit, 1.09 million users"
array plain[3] = [1, 2, 14]
array without[3] = [11, 12, 17]
way(i) = method[(i + 1) / 2].(i % 2 ? "" : " without")
look(i) = i % 2 ? plain[(i + 1) / 2] : without[i / 2]
do for [epsilon = 1:4] {
    eval cell(epsilon % 2 ? 1 : 2, (epsilon + 1) / 2)
    eval quarter
    plot for [i=1:6] "terms_consistency.dat" index block(way(i), epsilon) @bars lt look(i), \
        for [i=1:6] "" index block(way(i), epsilon) using 1:2 with linespoints lt look(i)
}
eval legend(2, 28)
plot for [i=1:6] NaN with linespoints lt look(i) title way(i).(i % 2 ? "" : " consistency")
eval finish

array population[3] = ["reddit", "reddit7", "reddit4585"]
array label[3] = ["1.09 M users, 189,695 terms", "7.6 M users, 189,695 terms", "7.6 M users, 4,585 terms"]
eval start("terms_users", 400, 3, 1, 50, "terms_fscore_reddit.dat terms_fscore_reddit7.dat terms_fscore_reddit4585.dat")
gap = 34
do for [panel = 1:3] {
    eval cell(panel, 1)
    set title label[panel]
    set xlabel "k"
    set xrange [5:105]
    set xtics 10, 20, 90
    set yrange [0:1.02]
    if (panel == 1) { set ylabel "F-score" } else { unset ylabel }
    data = "terms_fscore_".population[panel].".dat"
    plot for [i=1:5] data index block(method[i], 2) @bars lt type[i], \
        data index block(method[7], 2) using 1:2 with lines lt 9, \
        for [i=1:5] data index block(method[i], 2) using 1:2 with linespoints lt type[i]
}
eval legend(2, 16)
plot for [i=1:5] NaN with linespoints lt type[i] title method[i], NaN with lines lt 9 title given
eval finish

# Terms stand at the marks, so the panels are one above the other.
eval start("terms_counts", 680, 1, 2, 30, "terms_counts.dat")
foot = 88
do for [panel = 1:2] {
    eval cell(1, panel)
    set format y "%.0s%c"
    set logscale y
    set title (panel == 1 ? "reddit, 1.09 million users" : "reddit7, 7.6 million users").", privtrie, ε = 2"
    set ylabel "users of the term"
    set xtics rotate by 60 right font ",11"
    set xrange [0:31]
    set yrange [(panel == 1 ? 500 : 3000):(panel == 1 ? 50000 : 300000)]
    data = panel == 1 ? '"reddit"' : '"reddit7"'
    plot "terms_counts.dat" index data using 1:3:xtic(2) with linespoints lt 7 lw 1 pt 1, \
        "" index data using 1:(low($4, $5)):(0):(high($4, $5)) with vectors nohead lt 1 lw 1.2, \
        "" index data using 1:4 with points lt 1
}
eval legend(1, 38)
plot NaN with linespoints lt 7 lw 1 pt 1 title "true count", NaN with points lt 1 title "estimate, with its standard deviation"
eval finish
