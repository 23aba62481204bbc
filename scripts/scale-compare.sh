#!/usr/bin/env bash
# Compares the virtual time of a step of programs on four simulated H200 with that of the same programs by hand in C++. It prints a
# table, and fails if a plan is slower. Shapes are ranks x devices, as in "1x4 2x2 4x1". Without mpirun, there is one rank.
set -euo pipefail

[ $# -ge 3 ] || { echo "use: scale-compare.sh REPRISE PROGRAMS LIBCUDASIM [SHAPES [SIZE...]], as in make compare-scale" >&2; exit 2; }
reprise=$1 programs=$2
export REPRISE_LIBCUDA=$3
shift 3
shapes=${1-1x4 2x2 4x1}
[ $# = 0 ] || shift
[ $# -gt 0 ] || set -- 512 4096
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1

# The greatest side of a grid whose kernels are executed. Larger ones are sampled on both sides.
readonly executed=1024
# Replays of jacobi have ten steps, with one norm.
readonly every=10

number() { sed -n "s/.*\"$1\": *\([0-9.e+-]*\).*/\1/p" | head -n 1; }

# by_hand PROGRAM SIZE RANKS DEVICES prints the time of a step of the C++ program.
by_hand() { # the driver has the devices of the rank
	local options=(--size "$2" --steps 200 --devices "$4" --iterations 2) run=()
	[ "$2" -le $executed ] || options+=(--sample 8)
	[ "$1" = wave ] || options+=(--norm-every $every)
	[ "$3" = 1 ] || run=(mpirun -np "$3")
	REPRISE_SIM_MACHINE=$3x$4 timeout 300 "${run[@]}" "$programs/$1" "${options[@]}" </dev/null | number us_per_step
}

# planned PROGRAM SIZE MACHINE prints the time of a step of the plan.
planned() {
	local size=$2 execute=4
	[ "$2" -le $executed ] || execute=0
	[ "$1" = wave ] || size=$2x$every
	"$reprise" scale "$1:$size" --machine "$3" --devices 4 --execute $execute --json - | number us_per_step
}

command -v mpirun >/dev/null || shapes=1x4
slower=0
printf '%8s %6s  %15s  %11s  %11s  %5s\n' program size ranks-x-devices 'C++ us/step' 'plan us/step' ratio
for program in wave jacobi; do
	for size in "$@"; do
		for shape in $shapes; do
			hand=$(by_hand $program "$size" "${shape%x*}" "${shape#*x}")
			plan=$(planned $program "$size" "$shape")
			ratio=$(awk -v a="$plan" -v b="$hand" 'BEGIN { if (a <= 0 || b <= 0) exit 1; printf "%.2f", a / b }')
			printf '%8s %6s  %15s  %11s  %11s  %5s\n' $program "$size" "$shape" "$(printf %.2f "$hand")" "$(printf %.2f "$plan")" "$ratio"
			awk -v r="$ratio" 'BEGIN { exit r > 1.00 }' || slower=1
		done
	done
done
[ $slower = 0 ] || { echo "a plan is slower than the program by hand" >&2; exit 1; }
