# distributions.gp: the plots of bayes_dp_dist from the data that the benchmark wrote:
# figures 2 to 6 of the paper (Ramadan et al. 2021).
#
#   gnuplot -c distributions.gp FOLDER, beside style.gp

cd ARG1
load ARG2."style.gp"

array method[11] = ["shrinkage", "shrinkage, delta 0", "log-posterior, tune", "log-posterior", \
    "laplace, best W", "laplace, W = users/1000", "laplace-public, best W", "laplace-public, W = 1", \
    "local-sensitivity, brute-force", "local-sensitivity, worst-case", "public prior"]
array type[11] = [1, 11, 2, 12, 3, 13, 6, 16, 5, 15, 9]
quoted(name) = '"'.name.'"' # as in the data: gnuplot is content with the beginning of a name
named(i) = i == 2 ? "shrinkage, δ = 0" : method[i].(i == 9 || i == 10 ? " (not DP)" : "")
nats = "KL divergence, nats"
methods = "plot for [i=1:10] NaN with linespoints lt type[i] title named(i), NaN with lines lt 9 title named(11)"

# Curves of one panel, with bars of one standard deviation; the prior is a bare line.
curves(file) = sprintf("plot for [i=1:10] '%s' index quoted(method[i]) @bars lt type[i], \
    '%s' index quoted(method[11]) using 1:2 with lines lt 9, \
    for [i=1:10] '%s' index quoted(method[i]) using 1:2 with linespoints lt type[i]", file, file, file)

do for [corpus in "msnbc git"] {
    eval start("epsilon_".corpus, 540, 2, 1, 128, "epsilon_".corpus."_users.dat epsilon_".corpus."_occurrences.dat")
    gap = 72
    do for [panel = 1:2] {
        counting = word("users occurrences", panel)
        eval cell(panel, 1)
        set logscale xy
        set title (corpus eq "git" ? "git" : "MSNBC").", counting ".counting
        set xlabel "ε of the release"
        if (panel == 1) { set ylabel nats } else { unset ylabel }
        set xrange [0.008:12]
        set yrange [(corpus eq "git" ? 0.05 : 0.00005):20]
        eval curves("epsilon_".corpus."_".counting.".dat")
    }
    eval legend(6, 38)
    eval methods
    eval finish
}

eval start("users", 500, 1, 1, 128, "users_msnbc_users.dat")
eval cell(1, 1)
set logscale xy
set title "MSNBC, counting users, ε = 0.1"
set xlabel "private users"
set ylabel nats
set format x "%.0s%c"
set xrange [9000:1.1e6]
set yrange [0.01:20]
eval curves("users_msnbc_users.dat")
eval legend(6, 38)
eval methods
eval finish

eval start("vocabulary", 520, 2, 1, 128, "vocabulary_msnbc_users.dat vocabulary_git_users.dat")
gap = 72
do for [panel = 1:2] {
    eval cell(panel, 1)
    set logscale xy
    set title word("MSNBC git", panel).", counting users, ε = 0.1"
    set xlabel "trigrams in the vocabulary"
    if (panel == 1) { set ylabel nats } else { unset ylabel }
    set format x "%.0s%c"
    set xrange [(panel == 1 ? 90 : 900):(panel == 1 ? 2000 : 70000)]
    set yrange [(panel == 1 ? 0.0001 : 0.1):20]
    eval curves("vocabulary_".word("msnbc git", panel)."_users.dat")
}
eval legend(6, 38)
eval methods
eval finish

# Only methods that see the public counts; no noise is drawn at the axis' left end.
eval start("public", 480, 1, 1, 108, "public_msnbc_users.dat")
eval cell(1, 1)
set logscale xy
set title "MSNBC, counting users, ε = 0.1"
set xlabel "scale of the Laplace noise on each public count, in occurrences"
set ylabel nats
set xrange [0.9:110]
set xtics ("none" 1, "3" 3, "10" 10, "30" 30, "100" 100)
set yrange [0.01:5]
left_end(x) = x < 1 ? 1 : x
plot for [i in "1 2 3 4 7 8 9 10"] "public_msnbc_users.dat" index quoted(method[int(i)]) \
        using (left_end($1)):(low($2, $3)):(0):(high($2, $3)) with vectors nohead lt type[int(i)] lw 1 dt 1, \
    "" index quoted(method[11]) using (left_end($1)):2 with lines lt 9, \
    for [i in "1 2 3 4 7 8 9 10"] "" index quoted(method[int(i)]) using (left_end($1)):2 with linespoints lt type[int(i)]
eval legend(5, 38)
plot for [i in "1 2 3 4 7 8 9 10"] NaN with linespoints lt type[int(i)] title named(int(i)), NaN with lines lt 9 title named(11)
eval finish

# Section 4.5: both panels on one scale
eval start("kanonymity", 380, 2, 1, 30, "kanonymity.dat epsilon_msnbc_users.dat epsilon_git_users.dat")
do for [panel = 1:2] {
    eval cell(panel, 1)
    set logscale xy
    set format y "10^{%L}"
    set title (panel == 1 ? "K-anonymity (not DP)" : "shrinkage, counting users")
    set xlabel (panel == 1 ? "K, the least users of an n-gram" : "ε of the release")
    if (panel == 1) { set ylabel nats } else { unset ylabel }
    set yrange [1e-6:5]
    if (panel == 1) {
        set xrange [1.8:6000]
        plot "kanonymity.dat" index quoted("msnbc") using 1:(positive($2)) with linespoints lt 1, \
            "" index quoted("git") using 1:(positive($2)) with linespoints lt 3
    } else {
        set xrange [0.008:12]
        plot "epsilon_msnbc_users.dat" index quoted(method[1]) @bars lt 1, "" index quoted(method[1]) with linespoints lt 1, \
            "epsilon_git_users.dat" index quoted(method[1]) @bars lt 3, "" index quoted(method[1]) with linespoints lt 3
    }
}
eval legend(1, 21)
plot NaN with linespoints lt 1 title "MSNBC", NaN with linespoints lt 3 title "git, Wikipedia public"
eval finish

# Figure 6
eval start("membership", 460, 2, 1, 88, "membership.dat membership_rare.dat")
array attack[4] = ["shrinkage", "laplace, W = 10", "laplace, W = users/1000", "local-sensitivity, brute-force"]
array look[4] = [1, 3, 13, 5]
do for [panel = 1:2] {
    eval cell(panel, 1)
    set logscale x
    set xrange [0.08:130]
    set xlabel "claimed ε"
    if (panel == 1) {
        set title "how often the attack is right"
        set ylabel "share of the runs"
        set yrange [0:1.02]
        plot 0.5 lt 7 lw 0.7, for [i=1:4] "membership.dat" index quoted(attack[i]) using 1:2 with linespoints lt look[i]
    } else {
        set title "what the attack proves"
        set ylabel "proven ε"
        set yrange [0:5]
        plot x with lines lt 9, for [i=1:4] "membership.dat" index quoted(attack[i]) using 1:3 with linespoints lt look[i], \
            "membership_rare.dat" index quoted(attack[1]) using 1:2 with linespoints lt 11, \
            "" index quoted(attack[4]) using 1:2 with linespoints lt 15
    }
}
eval legend(4, 36)
plot for [i=1:4] NaN with linespoints lt look[i] title attack[i].(i == 4 ? " (not DP)" : ""), \
    NaN with linespoints lt 11 title "shrinkage, a rare trigram", NaN with linespoints lt 15 title "local-sensitivity, the same (not DP)", \
    NaN with lines lt 9 title "claimed ε"
eval finish
