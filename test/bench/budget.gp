# budget.gp: what three histories of calls have spent, by each accounting.
#
#   gnuplot -c budget.gp FOLDER, beside style.gp

cd ARG1
load ARG2."style.gp"

array accounting[3] = ["gdp", "zcdp", "basic"]
array titles[3] = ["a budget of (4, 10^{-6})", "12 Gaussian calls", "one Gaussian call, 30 pure ones"]
array calls[3] = [16, 12.5, 32]
array most[3] = [4.5, 6.5, 4.5]
block(panel, i) = sprintf('"%s, %s"', word("held twelve mixed", panel), accounting[i])

eval start("budget", 380, 3, 1, 30, "budget.dat")
gap = 44
do for [panel = 1:3] {
    eval cell(panel, 1)
    set title titles[panel]
    set xlabel "calls"
    if (panel == 1) { set ylabel "ε that they have spent" } else { unset ylabel }
    set xrange [0:calls[panel]]
    set yrange [0:most[panel]]
    plot (panel == 1 ? 4 : NaN) lt 9, for [i=1:3] "budget.dat" index block(panel, i) using 1:2 with linespoints lt i ps 0.5
}
eval legend(1, 20)
plot for [i=1:3] NaN with linespoints lt i title accounting[i], NaN with lines lt 9 title "the budget's ε"
eval finish
