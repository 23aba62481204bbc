#!/bin/sh
# benchmarks.sh [DEVICE...]: produces the tables and figures in docs/benchmarks.
#
# Runs `reprise compare` on simulated devices (by default gtx1660s and p100) at
# the sizes of the GrCUDA evaluation, and writes
#
#	build/benchmarks/DEVICE/WORKLOAD.json   the records, and
#	build/benchmarks/DEVICE/tables.txt      their tables, a megabyte in all
#	docs/benchmarks/DEVICE/means.txt        the geometric means
#	docs/benchmarks/DEVICE/*.svg, *.png     the figures
#	docs/benchmarks/DEVICE/published.md     our figures and the published ones
#
# A workload whose records exist is not run again: remove the file to repeat it. A GTX 960 cannot
# prefetch, and runs without that memory mode. The script builds the targets that it requires.
# $WORKLOADS, $MEMORY, $THREADS and $SAMPLE restrict the runs.
set -eu
cd "$(dirname "$0")/.."
out=docs/benchmarks
memory=${MEMORY:-prefetch,managed}
threads=${THREADS:-all}
sample=${SAMPLE:-4}
workloads=${WORKLOADS:-vec bs img ml hits dl}

# sizes DEVICE WORKLOAD prints the sizes of the evaluation that fit in the memory of the device.
sizes() {
	case $2 in
	vec) list='20000000 60000000 80000000 100000000 120000000 | 200000000 | 500000000 600000000 700000000' ;;
	bs) list='2000000 6000000 8000000 10000000 12000000 | 20000000 | 50000000 60000000 70000000' ;;
	img) list='1600 2400 3200 4000 4800 | 8000 10000 | 12000 16000' ;;
	ml) list='200000 500000 800000 1000000 1200000 | 2000000 | 4000000 5000000 6000000' ;;
	hits) list='4000000 7000000 10000000 15000000 20000000 | 40000000 | 60000000 100000000 140000000' ;;
	dl) list='3000 4000 5000 6000 7000 | 10000 12000 14000 | 16000' ;;
	esac
	case $1 in
	gtx960) list=${list%%|*} ;;
	gtx1660s) list=${list%|*} ;;
	esac
	echo "$list" | tr -d '|' | tr -s ' ' ',' | sed 's/,$//'
}

# modes DEVICE prints the modes of $MEMORY that the device supports. compare refuses a list with an unsupported mode.
modes() {
	case $1 in
	gtx960) echo "$memory" | tr ',' '\n' | grep -v '^prefetch$' | paste -sd , ;;
	*) echo "$memory" ;;
	esac
}

# Of four iterations only the last is measured. In the first, kernels also fault in the pages that they only write.
[ $# -gt 0 ] || set -- gtx1660s p100
make -s build baseline libcudasim
for device in "$@"; do
	records=build/benchmarks/$device docs=$out/$device modes=$(modes $device)
	[ "$modes" = "$memory" ] ||
		echo "benchmarks.sh: $device has compute capability 5.2, and memory is prefetched from 6.0 on: of $memory it runs ${modes:-nothing}" >&2
	[ -n "$modes" ] || continue
	mkdir -p $records $docs
	for workload in $workloads; do
		[ -f $records/$workload.json ] ||
			bin/reprise compare $workload --device sim:$device --size "$(sizes $device $workload)" --memory "$modes" \
				--threads $threads --sample $sample --iterations 4 --burst 0 --json $records/$workload.json >/dev/null
	done
	bin/reprise compare --from $records --plot $docs --published $docs/published.md >$records/tables.txt
	sed -n '/geometric means/,$p' $records/tables.txt >$docs/means.txt
done
