#!/usr/bin/env bash
# Runs the C++ programs for several devices under mpirun, on the simulated driver, as 4 ranks with a device each and as 2
# ranks with 2. Their results must have the hashes that the Go programs have on one device, and a rank that fails must end
# all others.
set -euo pipefail

[ $# -eq 2 ] || { echo "use: baseline-ranks.sh PROGRAMS LIBCUDASIM, as in make baseline-ranks" >&2; exit 2; }
programs=$1
export REPRISE_LIBCUDA=$2 REPRISE_SIM=h200,h200
hashes=$(dirname "${BASH_SOURCE[0]}")/../internal/bench/scale/programs/testdata/hashes

# Open MPI refuses root, and more ranks than cores, unless it is told otherwise. Other implementations ignore these.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1

# ranks N PROGRAM ARGUMENTS... runs ranks. A minute is enough for each run. mpirun would read the list of hashes.
ranks() { timeout 60 mpirun -np "$@" </dev/null; }

runs=0
while IFS=' ' read -r name size steps hash; do
	for shape in 4x1 2x2; do
		record=$(ranks "${shape%x*}" "$programs/$name" --size "$size" --steps "$steps" --devices "${shape#*x}" --iterations 2)
		case $record in
		*"\"ranks\":${shape%x*},\"devices\":4,"*"\"result_hash\":\"$hash\""*) runs=$((runs + 1)) ;;
		*)
			echo "$name --size $size --steps $steps as $shape ranks and devices: the Go program has the hash $hash" >&2
			echo "$record" >&2
			exit 1
			;;
		esac
	done
done < <(awk -v RS= '{ sub("steps=", "", $2); sub(":", " ", $3); print $3, $2, $5 }' "$hashes")
[ $runs -gt 0 ] || { echo "$hashes has no results" >&2; exit 1; }

# Each rank has two devices.
if complaint=$(ranks 2 "$programs/wave" --devices 3 2>&1); then
	echo "wave runs on devices that do not exist: $complaint" >&2
	exit 1
fi
case $complaint in
*"has no device 2, only 2"*) ;;
*)
	echo "wave on devices that do not exist: $complaint" >&2
	exit 1
	;;
esac
echo "$runs results of several ranks equal those of one device"
