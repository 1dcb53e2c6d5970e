# scale.gp: time and memory of dp_ngrams against the size of the data.
#
#   gnuplot -c scale.gp FOLDER, beside style.gp

cd ARG1
load ARG2."style.gp"

array method[2] = ["dpne-mr", "dpne"]
array type[2] = [1, 3]
only(name, y) = strcol(1) eq name ? y : NaN

eval start("scale_growth", 380, 2, 1, 30, "scale_growth.dat")
gap = 84
do for [panel = 1:2] {
    eval cell(panel, 1)
    set logscale x 2
    set xlabel "million tokens"
    set xrange [12:280]
    set xtics (14.6, 29.2, 58.5, 117, 234)
    if (panel == 1) {
        set title "time of a call"
        set logscale y 2
        set ylabel "seconds"
        set yrange [2:256]
        plot for [i=1:2] "scale_growth.dat" using 6:(only(method[i], $3)) with linespoints lt type[i]
    } else {
        unset logscale y
        set title "memory of its process"
        set ylabel "MB"
        set yrange [0:*]
        plot for [i=1:2] "scale_growth.dat" using 6:(only(method[i], $4)) with linespoints lt type[i], 64 lt 9
    }
}
eval legend(1, 8)
plot for [i=1:2] NaN with linespoints lt type[i] title method[i], NaN with lines lt 9 title "work\\_mem"
eval finish
