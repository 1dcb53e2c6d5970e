# rounds.gp: the plots of dpne-mr beside dpne, dpsu and k-anonymity from the data that the
# benchmark wrote: figures 1 to 4 of the DPNE paper (Kim et al. 2021).
#
#   gnuplot -c rounds.gp FOLDER, beside style.gp

cd ARG1
load ARG2."style.gp"

array method[7] = ["dpne-mr balanced", "dpne-mr adaptive", "dpne", "dpsu-all", "dpsu-even", "dpsu-single", "dpne-mr ratio"]
array type[7] = [1, 2, 3, 14, 15, 16, 7]
array dataset[2] = ["msnbc", "git"]
array label[2] = ["MSNBC, ε = 1, T = 6", "git, ε = 4, T = 9"]
array any_epsilon[2] = ["MSNBC, T = 6", "git, T = 9"]
array any_t[2] = ["MSNBC, ε = 1", "git, ε = 4"]
block(set, i) = '"'.dataset[set].", ".method[i].'"'
grams = "n-grams"
in_all = "n-grams of all lengths"
thousands = "set format y '%.0s%c'"

# figure 1, with the n-grams that k-anonymity would publish
eval start("rounds_lengths", 420, 2, 1, 50, "rounds_lengths.dat rounds_kanonymity.dat")
do for [set = 1:2] {
    eval cell(set, 1)
    eval thousands
    set logscale y
    set title label[set]
    set xlabel "length, in tokens"
    if (set == 1) { set ylabel grams } else { unset ylabel }
    set xtics 1
    set xrange [0.7:(set == 1 ? 6.3 : 9.3)]
    set yrange [(set == 1 ? 10 : 0.5):(set == 1 ? 10000 : 40000)]
    plot for [i=1:6] "rounds_lengths.dat" index block(set, i) @bars lt type[i], \
        "rounds_kanonymity.dat" index '"'.dataset[set].', K = 100"' using 1:($1 <= (set == 1 ? 6 : 9) ? $2 : NaN) with lines lt 9, \
        for [i=1:6] "rounds_lengths.dat" index block(set, i) using 1:(positive($2)) with linespoints lt type[i]
}
eval legend(2, 18)
plot for [i=1:6] NaN with linespoints lt type[i] title method[i], NaN with lines lt 9 title "K-anonymity: not DP"
eval finish

# figure 4, left
eval start("rounds_pruning", 420, 2, 1, 50, "rounds_pruning.dat")
pruned(set, i, pruning) = '"'.dataset[set].", ".method[i].", ".pruning.'"'
do for [set = 1:2] {
    eval cell(set, 1)
    eval thousands
    set logscale y
    set title label[set]
    set xlabel "length, in tokens"
    if (set == 1) { set ylabel grams } else { unset ylabel }
    set xtics 1
    set xrange [0.7:(set == 1 ? 6.3 : 9.3)]
    set yrange [(set == 1 ? 10 : 0.5):(set == 1 ? 10000 : 40000)]
    plot for [i=1:3] "rounds_pruning.dat" index pruned(set, i, "both") using 1:(positive($2)) with linespoints lt i, \
        for [i=1:3] "rounds_pruning.dat" index pruned(set, i, "single") using 1:(positive($2)) with linespoints lt 10 + i
}
eval legend(2, 29)
plot for [i=1:6] NaN with linespoints lt (i + 1) / 2 + (i % 2 ? 0 : 10) title method[(i + 1) / 2].(i % 2 ? ", both sides" : ", single side")
eval finish

eval start("rounds_t", 360, 2, 1, 30, "rounds_t.dat")
do for [set = 1:2] {
    eval cell(set, 1)
    eval thousands
    set title any_t[set]
    set xlabel "T, the longest n-grams that are asked for"
    if (set == 1) { set ylabel in_all } else { unset ylabel }
    set xrange [2.8:9.2]
    set yrange [0:*]
    plot for [i=1:3] "rounds_t.dat" index block(set, i) @bars lt i, \
        for [i=1:3] "rounds_t.dat" index block(set, i) using 1:2 with linespoints lt i
}
eval legend(1, 19)
plot for [i=1:3] NaN with linespoints lt i title method[i]
eval finish

# figure 2, right
eval start("rounds_epsilon", 400, 2, 1, 50, "rounds_epsilon.dat")
do for [set = 1:2] {
    eval cell(set, 1)
    eval thousands
    set logscale xy
    set title any_epsilon[set]
    set xlabel "ε of the call"
    if (set == 1) { set ylabel in_all } else { unset ylabel }
    set xrange [0.45:9]
    set xtics (0.5, 1, 2, 4, 8)
    set yrange [(set == 1 ? 1000 : 100):100000]
    plot for [i=1:5] "rounds_epsilon.dat" index block(set, i) @bars lt type[i], \
        for [i=1:5] "rounds_epsilon.dat" index block(set, i) using 1:2 with linespoints lt type[i]
}
eval legend(2, 16)
plot for [i=1:5] NaN with linespoints lt type[i] title method[i]
eval finish

# figure 2, left
eval start("rounds_bound", 380, 2, 1, 50, "rounds_bound.dat")
do for [set = 1:2] {
    eval cell(set, 1)
    eval thousands
    set logscale x
    set title label[set]
    set xlabel "Δ₀, the most n-grams of a length by one user"
    if (set == 1) { set ylabel in_all } else { unset ylabel }
    set xrange [(set == 1 ? 0.9 : 9):(set == 1 ? 340 : 1200)]
    set yrange [0:*]
    plot for [i=1:5] "rounds_bound.dat" index block(set, i) @bars lt type[i], \
        for [i=1:5] "rounds_bound.dat" index block(set, i) using 1:2 with linespoints lt type[i]
}
eval legend(2, 16)
plot for [i=1:5] NaN with linespoints lt type[i] title method[i]
eval finish

# figure 3
eval start("rounds_eta_c", 680, 2, 2, 34, "rounds_eta.dat rounds_c.dat")
do for [set = 1:2] {
    eval thousands
    eval cell(1, set)
    set logscale x
    set title label[set]
    set xlabel "η, the share of spurious n-grams"
    set ylabel in_all
    set xrange [0.0008:0.13]
    set yrange [0:*]
    plot for [i=1:3] "rounds_eta.dat" index block(set, i) @bars lt i, \
        for [i=1:3] "rounds_eta.dat" index block(set, i) using 1:2 with linespoints lt i
    eval cell(2, set)
    unset logscale x
    set xlabel "c, the noise of a length over that of the one before"
    unset ylabel
    set xrange [0.5:1.7]
    set xtics 0.2
    plot for [i=1:2] "rounds_eta.dat" index block(set, i) every ::1::1 using (0.5):2:(1.2):(0) with vectors nohead lt i, \
        for [i in "3 7"] "rounds_c.dat" index block(set, int(i)) @bars lt int(i), \
        for [i in "3 7"] "rounds_c.dat" index block(set, int(i)) using 1:2 with linespoints lt int(i)
    set xtics auto
}
eval legend(1, 19)
plot for [i=1:3] NaN with linespoints lt i title method[i], NaN with linespoints lt 7 title "dpne-mr, schedule c"
eval finish

# figure 4, right; where fewer than five n-grams have K users, their share says little
eval start("rounds_coverage", 620, 3, 2, 34, "rounds_coverage.dat")
array length[5] = [2, 4, 6, 7, 8]
array look[5] = [14, 15, 1, 2, 3]
covered(set, i, n) = sprintf('"%s, %s, length %d"', dataset[set], method[i], n)
array column[3] = [3, 1, 2]
gap = 34
do for [set = 1:2] {
    do for [panel = 1:3] {
        eval cell(panel, set)
        set logscale x
        set title any_t[set].", ".method[column[panel]]
        set xlabel "K users"
        if (panel == 1) { set ylabel "released share of the n-grams" } else { unset ylabel }
        set xrange [9:1300]
        set xtics (10, 30, 100, 300, 1000)
        set yrange [0:1.02]
        plot 0.9 lt 9, for [i=1:5] "rounds_coverage.dat" index covered(set, column[panel], length[i]) \
            using 1:($3 >= 5 ? $2 : NaN) with linespoints lt look[i]
    }
}
eval legend(1, 8)
plot for [i=1:5] NaN with linespoints lt look[i] title sprintf("length %d", length[i]), NaN with lines lt 9 title "0.9"
eval finish
