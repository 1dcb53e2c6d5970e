#!/bin/bash
# figures.sh: draws the plots of doc/figures anew from the data that lie beside them; what a
# part of the benchmark has measured, it draws by the same script.
#
#   figures.sh [SCRIPT...]: of these parts only: rounds, scale, ...
#
# FIGURES is the folder, by default doc/figures.
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")"

folder=$(cd "${FIGURES:-../../doc/figures}" && pwd)
if ! command -v gnuplot >/dev/null; then
    echo "skipped: no gnuplot, so no plots"
    exit 0
fi
for part in "${@:-rounds distributions local scale budget}"; do
    for script in $part; do
        gnuplot -c "$script.gp" "$folder" "$PWD/"
        echo "plots: $(cd "$folder" && for file in *.from; do echo "${file%from}svg"; done | tr '\n' ' ')in $folder"
        perl svg.pl "$folder" ../../doc/benchmarks.md
    done
done
