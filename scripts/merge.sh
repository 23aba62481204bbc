#!/bin/sh
# merge.sh [workloads|networks|solvers]...: prints what the pass merge gains.
#
# Measures the workloads, the networks, and solvers with several right-hand
# sides (all three by default) with and without `--also merge` under nimble, on
# $DEVICE (by default sim:h200). Each row has the microseconds of a replay, or
# of an iteration of all systems, as a graph and over streams. docs/MERGING.md
# and docs/SOLVERS.md have the output. The status is 1 if a row is slower with
# merge by more than a nanosecond, the resolution of the virtual clock.
set -eu
cd "$(dirname "$0")/.."
reprise=${REPRISE:-bin/reprise}
device=${DEVICE:-sim:h200}
status=0

# durations prints the microseconds of records in JSON.
durations() {
	awk -F '[:,]' '/"replay_us":/ { print $2 } /"time_per_iteration_ns":/ { print $2 / 1000 }'
}

# row NAME COMMAND... prints a row of the table: the times of the command without merge and with it.
row() {
	name=$1
	shift
	"$reprise" "$@" --device "$device" --strategy nimble --json - 2>"$tmp/errors" | durations >"$tmp/plain"
	"$reprise" "$@" --device "$device" --strategy nimble --also merge --json - 2>>"$tmp/errors" | durations >"$tmp/merged"
	paste "$tmp/plain" "$tmp/merged" | awk -v name="$name" '
		{ line = line sprintf(" %.2f | %.2f | %.2fx |", $1, $2, $1 / $2); slower = slower || $2 > $1 + 0.0011 }
		END {
			if (NR != 2 || NF != 2) exit 2
			print "| " name " |" line
			exit slower
		}' || failed $? "$name"
}

# failed STATUS NAME reports that a row has no times, or that it is slower with merge.
failed() {
	status=1
	case $1 in
	1) echo "merge.sh: $2 is slower with merge" >&2 ;;
	*) echo "merge.sh: $2 was not measured: $(tail -n 1 "$tmp/errors")" >&2 ;;
	esac
}

heading() {
	printf '\n| %s | graph | merged | | streams | merged | |\n|---|---:|---:|---:|---:|---:|---:|\n' "$1"
}

workloads() {
	heading 'virtual us per replay'
	row 'VEC' bench vec --iterations 1
	row 'B&S' bench bs --iterations 1
	row 'IMG 512' bench img --size 512 --iterations 1
	row 'IMG 1024' bench img --size 1024 --iterations 1
	row 'ML' bench ml --iterations 1
	row 'HITS' bench hits --iterations 1
	row 'DL' bench dl --iterations 1
	row 'sgemm 256x128x1152, 20 products' bench sgemm --size 20 --iterations 1 --sample 8
	row 'sgemm 512x1x512, 20 products' bench sgemm --shape 512x1x512 --size 20 --iterations 1 --sample 8
	row 'sgemm 512x1x512, 120 products' bench sgemm --shape 512x1x512 --size 120 --iterations 1 --sample 8
}

networks() {
	heading 'virtual us per replay'
	for net in resnet18 resnet50 mobilenetv2; do
		row "$net, 32 pixels" bench $net --size 32 --iterations 1 --sample 4
		row "$net, 224 pixels" bench $net --size 224 --iterations 1 --sample 1
	done
}

solvers() {
	heading 'virtual us per iteration'
	for matrix in poisson2d:64 poisson2d:256; do
		for n in 1 2 4 8 16 32; do
			systems "$n" cg "$matrix"
		done
	done
	for method in bicgstab jacobi chebyshev; do
		systems 8 "$method" poisson2d:64
		systems 32 "$method" poisson2d:64
	done
	systems 8 gmres poisson2d:64 # 32 of them are planned in some minutes
}

# systems COUNT METHOD MATRIX prints the row of several right-hand sides.
systems() {
	row "$2, $3, $1" solve --method "$2" --matrix "$3" --rhs "random:1..$1" --mode graph,streams --sample 16 --max-iterations 64
}

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT INT TERM
for group in "${@:-all}"; do
	case $group in
	all) workloads && networks && solvers ;;
	workloads | networks | solvers) $group ;;
	*) echo "merge.sh: $group is not workloads, networks or solvers" >&2 && exit 2 ;;
	esac
done
exit $status
