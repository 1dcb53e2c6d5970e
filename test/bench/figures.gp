# figures.gp: draws the plots of doc/figures from the data that the benchmark wrote there.
#
#   gnuplot -c figures.gp FOLDER
#
# Colours are Okabe and Ito's, told apart by readers who don't see all colours; points and
# dashes say the same once more.

cd ARG1
set encoding utf8
set style line 1 lc rgb "#0072B2" lw 3 pt 7 ps 0.7
set style line 2 lc rgb "#56B4E9" lw 2 pt 6 ps 0.7
set style line 3 lc rgb "#009E73" lw 2 pt 5 ps 0.7
set style line 4 lc rgb "#009E73" lw 1.3 pt 4 ps 0.7 dt 2
set style line 5 lc rgb "#D55E00" lw 2 pt 9 ps 0.8
set style line 6 lc rgb "#D55E00" lw 1.3 pt 8 ps 0.8 dt 2
set style line 7 lc rgb "#E69F00" lw 2 pt 11 ps 0.8
set style line 8 lc rgb "#E69F00" lw 1.3 pt 10 ps 0.8 dt 2
set style line 9 lc rgb "#CC79A7" lw 2 pt 13 ps 0.8
set style line 10 lc rgb "#CC79A7" lw 1.3 pt 12 ps 0.8 dt 2
set style line 11 lc rgb "#000000" lw 2 dt 4

array method[11] = ["shrinkage", "shrinkage, delta 0", "log-posterior, tune", "log-posterior", \
    "laplace, best W", "laplace, W = users/1000", "laplace-public, best W", "laplace-public, W = 1", \
    "local-sensitivity, brute-force", "local-sensitivity, worst-case", "public prior"]
quoted(name) = '"'.name.'"' # as in the data: gnuplot is content with the beginning of a name
name(i) = method[i].(i == 9 || i == 10 ? ": NOT DP" : "")

# Curves of one panel, with bars of one standard deviation; the prior is a bare line.
curves(file) = sprintf("plot for [i=1:10] '%s' index quoted(method[i]) using 1:2:3 with yerrorlines ls i title name(i), \
    '%s' index quoted(method[11]) using 1:2 with lines ls 11 title name(11)", file, file)

# Panels side by side on the left, the legend of all on the right.
left(panel, panels) = 0.09 + (0.62 / panels) * panel + (panel > 0 ? 0.025 : 0)
right(panel, panels) = 0.09 + (0.62 / panels) * (panel + 1) - 0.01
margins(panel, panels) = sprintf("set lmargin at screen %f; set rmargin at screen %f", \
    left(panel, panels), right(panel, panels))
nats = "KL divergence from private, nats"

set term svg size 1060,420 dynamic font "DejaVu Sans,Arial,sans-serif,12" background "#ffffff"
set grid lc rgb "#dddddd" lt 1 lw 0.5
set border 3
set tics nomirror
set bmargin at screen 0.15
set tmargin at screen 0.9
set logscale xy
set format "%g"
set key at screen 0.71, screen 0.9 left top Left reverse samplen 2.5 spacing 1.3 font ",11"

do for [corpus in "msnbc git"] {
    set output "epsilon_".corpus.".svg"
    set multiplot
    set xlabel "epsilon"
    set yrange [(corpus eq "git" ? 0.05 : 0.00005):10]
    do for [panel = 0:1] {
        counting = word("occurrences users", panel + 1)
        eval margins(panel, 2)
        set title (corpus eq "git" ? "git, " : "MSNBC, ")."counting => '".counting."'"
        if (panel == 0) { set ylabel nats; set format y "%g"; unset key } else { unset ylabel; set format y ""; set key }
        eval curves("epsilon_".corpus."_".counting.".dat")
    }
    unset multiplot
}

set ylabel nats
set format y "%g"
set output "users.svg"
eval margins(0, 1)
set format x "%.0s%c"
set xlabel "private users"
set title "MSNBC, counting => 'users', epsilon 0.1"
set yrange [0.005:20]
set xrange [9000:1.1e6]
eval curves("users_msnbc_users.dat")

set output "vocabulary.svg"
set multiplot
set xlabel "n-grams in the vocabulary"
do for [panel = 0:1] {
    eval margins(panel, 2)
    set xrange [(panel ? 900 : 90):(panel ? 66000 : 2000)]
    set yrange [0.0001:20]
    set title (panel ? "git" : "MSNBC").", counting => 'users', epsilon 0.1"
    if (panel == 0) { set ylabel nats; set format y "%g"; unset key } else { unset ylabel; set format y ""; set key }
    eval curves("vocabulary_".(panel ? "git" : "msnbc")."_users.dat")
}
unset multiplot

set ylabel nats
set format "%g"
set output "public.svg"
eval margins(0, 1)
set xlabel "scale of the Laplace noise on the public counts (0 drawn at 1)"
set title "MSNBC, counting => 'users', epsilon 0.1"
set xrange [0.9:110]
set yrange [0.01:20]
noisy(file) = sprintf("plot for [i in '1 2 3 4 7 8 9 10'] '%s' index quoted(method[int(i)]) using ($1 < 1 ? 1 : $1):2 \
    with linespoints ls int(i) title name(int(i)), \
    '%s' index quoted(method[11]) using ($1 < 1 ? 1 : $1):2 with lines ls 11 title name(11)", file, file)
eval noisy("public_msnbc_users.dat")

# Section 4.5: both panels on one scale
set output "kanonymity.svg"
set multiplot
set yrange [1e-6:3]
set xrange [1.8:5500]
eval margins(0, 2)
unset key
set title "K-anonymity: NOT DP"
set xlabel "K"
plot "kanonymity.dat" index quoted("msnbc") using 1:($2 > 0 ? $2 : 1e-9) with linespoints ls 1, \
    "kanonymity.dat" index quoted("git") using 1:($2 > 0 ? $2 : 1e-9) with linespoints ls 5
eval margins(1, 2)
set key
set xrange [0.009:11]
unset ylabel
set format y ""
set title "shrinkage, counting => 'users'"
set xlabel "epsilon"
plot "epsilon_msnbc_users.dat" index quoted("shrinkage") using 1:2 with linespoints ls 1 title "MSNBC", \
    "epsilon_git_users.dat" index quoted("shrinkage") using 1:2 with linespoints ls 5 title "git, Wikipedia public"
unset multiplot

# Figure 6
set output "membership.svg"
set multiplot
unset logscale y
set format y "%g"
set xrange [0.09:110]
set yrange [0.4:1.02]
set xlabel "claimed epsilon"
eval margins(0, 2)
unset key
set title "membership inference"
set ylabel "probability"
array attack[4] = ["shrinkage", "laplace, W = 10", "laplace, W = users/1000", "local-sensitivity, brute-force"]
array style[4] = [1, 5, 6, 9]
plot for [i=1:4] "membership.dat" index quoted(attack[i]) using 1:2 with linespoints ls style[i]
eval margins(1, 2)
set lmargin at screen left(1, 2) + 0.035
set key
set title "what the attack proves"
set ylabel "proven epsilon" offset 1
set yrange [-0.1:6]
plot for [i=1:4] "membership.dat" index quoted(attack[i]) using 1:3 with linespoints ls style[i] \
    title attack[i].(i == 4 ? ": NOT DP" : ""), \
    "membership_rare.dat" index quoted("local-sensitivity, brute-force") using 1:2 with linespoints ls 10 \
    title "the same, against a rare trigram: NOT DP", \
    "membership_rare.dat" index quoted("shrinkage") using 1:2 with linespoints ls 2 \
    title "shrinkage, against a rare trigram", \
    x with lines ls 11 title "claimed epsilon"
unset multiplot
