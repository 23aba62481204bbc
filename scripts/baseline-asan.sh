#!/usr/bin/env bash
# Runs the C++ workloads that `make baseline-asan` built with sanitizers, on the simulated driver: every version in
# every memory mode, with few and many threads, and every error that ends a run early, which must print one sentence.
# The tests of the common code run first. A finding of a sanitizer ends the program with a report and exit status 99.
# The race detector of the simulated driver is enabled, because results may be correct in spite of a missing edge or
# wait.
set -euo pipefail

[ $# -eq 3 ] || { echo "use: baseline-asan.sh PROGRAMS LIBCUDASIM FAILING_DRIVER, as in make baseline-asan" >&2; exit 2; }
programs=$1 failing=$3
export REPRISE_LIBCUDA=$2 REPRISE_SIM=h200
hashes=$(dirname "${BASH_SOURCE[0]}")/../internal/bench/scale/programs/testdata/hashes

# The exit status of a finding. The programs do not use it themselves.
export ASAN_OPTIONS=exitcode=99 UBSAN_OPTIONS=print_stacktrace=1:exitcode=99
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# expect STATUS PROGRAM ARGUMENTS... runs a program. It prints the output if the exit status differs, or if a failure
# does not print exactly one line.
expect() {
	local want=$1 status=0 log=$scratch/$BASHPID.log complaint=$scratch/$BASHPID.complaint
	shift
	"$@" >"$log" 2>"$complaint" || status=$?
	if [ "$status" -ne "$want" ] || [ "$(wc -l <"$complaint")" -ne $((status != 0)) ]; then
		echo "$*: exit status $status, want $want, and one line on standard error if that is not 0" >&2
		cat "$log" "$complaint" >&2
		exit 1
	fi
	echo >>"$scratch/runs"
}

# to_full PROGRAM ARGUMENTS... runs a program whose output device is full.
to_full() { "$@" >/dev/full; }

# expect_failure FUNCTION PROGRAM ARGUMENTS... runs a program whose driver fails in a function.
expect_failure() {
	local function=$1
	shift
	REPRISE_LIBCUDA=$failing REPRISE_FAIL=$function expect 1 "$@"
	if ! grep -q "^[a-z]*: $function: CUDA_ERROR_UNKNOWN (999)$" "$scratch/$BASHPID.complaint"; then
		echo "$*: what says that $function failed?" >&2
		cat "$scratch/$BASHPID.complaint" >&2
		exit 1
	fi
}

# check_workload PROGRAM
check_workload() {
	local program=$1 memory threads version copies=,graph4
	[ "${program##*/}" != hits ] || copies= # its replays continue from the last result
	for memory in pinned prefetch managed; do
		for threads in 32 1024; do
			REPRISE_SIM_RACE=1 expect 0 "$program" --size 104 --memory "$memory" --threads "$threads" --iterations 2
		done
	done
	REPRISE_SIM_RACE=1 expect 0 "$program" --size 104 --version "all$copies" --burst 8 --iterations 2
	expect 0 "$program" --size 104 --sample 2 --version "all$copies" --burst 8 --iterations 2
	REPRISE_SIM_SAMPLE=2 expect 0 "$program" --size 104 --iterations 1
	expect 0 "$program" --help
	expect 1 to_full "$program" --size 104 --version graph --iterations 1
	expect 2 "$program" --size 0
	expect 2 "$program" --size 2147483647
	expect 2 "$program" --seed
	expect 1 "$program" --device 1
	REPRISE_SIM=gtx960 expect 1 "$program" --size 104 --memory prefetch
	REPRISE_LIBCUDA=/dev/null expect 1 "$program" --size 104
	for version in sync:cuLaunchKernel async:cuLaunchKernel graph:cuGraphUpload capture:cuStreamEndCapture graph1:cuGraphLaunch \
		all:cuMemAlloc all:cuModuleLoadData; do
		expect_failure "${version#*:}" "$program" --size 104 --iterations 1 --version "${version%:*}"
	done
}

# check_solver PROGRAM checks the solver, whose flags differ from those of the workloads.
check_solver() {
	local solver=$1 flag
	REPRISE_SIM_RACE=1 expect 0 "$solver" --size 11 --check-every 3
	expect 0 "$solver" --size 11 --sample 2 --version graph --max-iterations 5
	expect 0 "$solver" --help
	expect 1 "$solver" --size 11 --max-iterations 2
	expect 1 to_full "$solver" --size 11
	expect 1 "$solver" --size 11 --device 1
	for flag in --size=0 --check-every=x --tolerance=1 --max-iterations --version=eager --sample=2; do
		# shellcheck disable=SC2086 # the flag and its value are words
		expect 2 "$solver" ${flag/=/ }
	done
	expect_failure cuGraphLaunch "$solver" --size 11
}

# check_scale NAME checks a program for several devices. Its results on any number of devices must have the hashes that the
# Go program has on one.
check_scale() {
	local program=$programs/scale/$1 name steps size hash devices peers
	export REPRISE_SIM=h200,h200,h200,h200
	while IFS=' ' read -r name size steps hash; do
		[ "$name" = "$1" ] || continue
		for devices in 1 2 4; do
			for peers in on off; do
				REPRISE_SIM_RACE=1 expect 0 "$program" --size "$size" --steps "$steps" --devices "$devices" --peers "$peers" --iterations 2
				if ! grep -q "\"result_hash\":\"$hash\"" "$scratch/$BASHPID.log"; then
					echo "$program --size $size --steps $steps --devices $devices --peers $peers: the Go program has the hash $hash" >&2
					cat "$scratch/$BASHPID.log" >&2
					return 1
				fi
			done
		done
	done < <(awk -v RS= '{ sub("steps=", "", $2); sub(":", " ", $3); print $3, $2, $5 }' "$hashes")
	REPRISE_SIM_RACE=1 expect 0 "$program" --size 6x70 --steps 5 --devices 4 # a row for each device
	expect 0 "$program" --size 104 --devices 4 --sample 2
	expect 0 "$program" --help
	expect 1 to_full "$program" --size 104
	expect 2 "$program" --size 5 --devices 100
	expect 2 "$program" --size 0
	expect 2 "$program" --iterations
	expect 1 "$program" --size 104 --devices 5
	for function in cuMemAlloc cuModuleLoadData cuGraphUpload cuGraphLaunch; do
		expect_failure $function "$program" --size 104 --devices 3
	done
}

expect 0 "$programs/obj/tests"
checks=()
for program in "$programs"/*; do
	[ -f "$program" ] || continue
	check_workload "$program" &
	checks+=($!)
done
[ ${#checks[@]} -gt 0 ] || { echo "$programs holds no program" >&2; exit 1; }
check_solver "$programs/solver/cg" &
checks+=($!)
for name in wave jacobi; do
	check_scale $name &
	checks+=($!)
done

# All workloads share the parser of the command line, so one program suffices here.
for flag in --size=12x --threads=33 --blocks=-1 --memory=none --version= --version=sync,none --iterations=0 --sample=x --nonsense=1; do
	expect 2 "$program" "$flag"
done

failed=0
for check in "${checks[@]}"; do
	wait "$check" || failed=1
done
[ $failed -eq 0 ] || exit 1
echo "$(wc -l <"$scratch/runs") runs, no finding"
