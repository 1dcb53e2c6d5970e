# scale.gp: draws time and memory of dp_ngrams against the size of the data.
#
#   gnuplot -c scale.gp FOLDER

cd ARG1
set encoding utf8
set style line 1 lc rgb "#0072B2" lw 3 pt 7 ps 0.7
set style line 2 lc rgb "#D55E00" lw 3 pt 9 ps 0.8
set style line 3 lc rgb "#000000" lw 1.3 dt 4
set grid lc rgb "#dddddd" lt 1 lw 0.5
set border 3
set tics nomirror
set term svg size 900,400 dynamic font 'DejaVu Sans,Arial,sans-serif,12' background '#ffffff'
set output "scale_growth.svg"
set multiplot layout 1,2
set logscale x 2
set xlabel "million tokens"
set key top left Left reverse
only(name, y) = strcol(1) eq name ? y : NaN

set logscale y 2
set ylabel "seconds"
plot "scale_growth.dat" using 6:(only("dpne", $3)) with linespoints ls 1 title "dpne", \
    "" using 6:(only("dpne-mr", $3)) with linespoints ls 2 title "dpne-mr"
unset logscale y
set ylabel "MB of the process's own pages"
set yrange [0:*]
plot "scale_growth.dat" using 6:(only("dpne", $4)) with linespoints ls 1 title "dpne", \
    "" using 6:(only("dpne-mr", $4)) with linespoints ls 2 title "dpne-mr"
unset multiplot
