#!/bin/sh
# benchmarks.sh [DEVICE...]: the campaign whose tables and figures are in docs/benchmarks.
#
# Runs `reprise compare` on simulated devices (gtx1660s and p100 unless others are named) at
# the sizes of the GrCUDA evaluation, and writes for each workload
#
#	docs/benchmarks/DEVICE/WORKLOAD.txt     the tables
#	docs/benchmarks/DEVICE/WORKLOAD/        the figures
#	build/benchmarks/DEVICE/WORKLOAD.json   the records, half a megabyte each
#
# and docs/benchmarks/means.txt, the geometric means of all. A workload whose tables are
# there is not run again: remove the file to do so. Needs `make baseline libcudasim`, which it runs.
# $WORKLOADS, $MEMORY, $THREADS and $SAMPLE narrow what is run.
set -eu
cd "$(dirname "$0")/.."
out=docs/benchmarks
memory=${MEMORY:-prefetch,managed}
threads=${THREADS:-all}
sample=${SAMPLE:-8}
workloads=${WORKLOADS:-vec bs img ml hits dl}

# sizes DEVICE WORKLOAD: those of the evaluation, of which a device has as many as it can hold.
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

# means prints for each device, memory mode and workload how the best plan stands to the C++
# version graph, to the best C++ version, to the serial plan and to the C++ version sync. What
# is called published is what the published speedups compare: with prefetches, and sync
# without them. The last line of each mode is the geometric mean.
means() {
	for device in "$@"; do
		for workload in $workloads; do
			[ ! -f $out/$device/$workload.txt ] || awk -v at="$device" -v of="$workload" '
				/ at [0-9]+ on .*\): / { size = $3; sub(/.*\): /, ""); split($0, a, /[ ,]+/); mode = a[1]; key = size " " a[4] }
				/^ *nimble\/[a-z]+ +[0-9]+\.[0-9]+ / && mode == "prefetch" && (!(key in best) || $2 < best[key]) { best[key] = $2 }
				/^ *c\+\+ sync +[0-9]+\.[0-9]+ / && mode == "managed" { sync[key] = $3 }
				/geometric means, / { mode = $3; sub(/,$/, "", mode) }
				/ best in Go / { row[mode] = $5 " " $6 " " $7 " " $8 }
				END {
					for (k in best) if (k in sync) { sum += log(sync[k] / best[k]); n++ }
					for (m in row) { gsub(/x/, "", row[m]); print at, m, of, row[m], m == "prefetch" && n ? exp(sum / n) : "-" }
				}' $out/$device/$workload.txt
		done
	done | sort -s -k1,2 | awk '
		function line(name, g, b, s, y, p) {
			printf "%-9s %-9s %-6s %9.2fx %9.3fx %12.2fx %10.2fx %10s\n", at, mode, name, g, b, s, y, p == "-" ? p : sprintf("%.2fx", p)
		}
		function flush() {
			if (n) line("all", exp(g/n), exp(b/n), exp(s/n), exp(y/n), pn ? exp(p/pn) : "-")
			n = pn = g = b = s = y = p = 0
		}
		BEGIN { printf "%-9s %-9s %-6s %10s %10s %13s %11s %10s\n", "device", "memory", "", "to graph", "to best", "over serial", "over sync", "published" }
		$1 != at || $2 != mode { flush(); at = $1; mode = $2 }
		{ line($3, $4, $5, $6, $7, $8); n++; g += log($4); b += log($5); s += log($6); y += log($7); if ($8 != "-") { p += log($8); pn++ } }
		END { flush() }'
}

# Of four iterations the last counts. In the first, kernels also fault in what they only write.
[ $# -gt 0 ] || set -- gtx1660s p100
make -s build baseline libcudasim
for device in "$@"; do
	mkdir -p $out/$device build/benchmarks/$device
	for workload in $workloads; do
		at=$out/$device/$workload
		[ ! -f $at.txt ] || continue
		bin/reprise compare $workload --device sim:$device --size "$(sizes $device $workload)" --memory $memory --threads $threads \
			--sample $sample --iterations 4 --plot $at --json build/benchmarks/$device/$workload.json >$at.txt.new
		mv $at.txt.new $at.txt
	done
done
means "$@" | tee $out/means.txt
