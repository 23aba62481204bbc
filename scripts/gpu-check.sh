#!/usr/bin/env bash
# Checks Reprise on a machine with a GPU: the conformance suite on its driver, our cuda.h against its
# toolkit's, calibration, benchmarks against hand-written C++ programs, and the tests under compute-sanitizer. It is
# part of the folder that `make gpu-bundle` builds, and does not require Go.
#
#   ./gpu-check.sh [-d DEVICE] [-o FOLDER] [STEP...]
#
# All steps run, even after a failure. The results are in FOLDER/check.json, which
# docs/GPU-CHECK.md describes, and in a log for each step. The exit status is 0
# if no step failed, 1 if one did, 2 if the command line is wrong, and 130 after an interrupt.
#
# Environment variables, with defaults: STEP_SECONDS, the time limit of a step (900); CUDA_HOME, the
# toolkit; LIBCUDA, the driver that the C programs are linked with (libcuda.so.1); REPRISE_LIBCUDA, the
# driver that the Go programs use, as for reprise itself; COMPARE_FLAGS, the flags of step compare (--memory all);
# VALIDATE_FLAGS, those of step validate (none).
set -uo pipefail

all_steps=(machine conformance tests programs header ptx calibrate bench validate compare sanitizer)
bundle=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
skipped=77 # what a step exits with that cannot run here

fail() {
	echo "$*"
	exit 1
}

skip() {
	echo "$*"
	exit $skipped
}

# need TOOL REMEDY skips the step if a tool is missing.
need() { command -v "$1" >/dev/null || skip "$1 is not here: $2"; }

# in_package PACKAGE changes to the sources of a package, whose files the tests read.
in_package() { cd "$bundle/src/$1" || exit 1; }

# go_tests PACKAGE FLAG... runs a compiled test. It fails if no test matches.
go_tests() {
	local binary=$bundle/tests/${1//\//-}.test
	[ -x "$binary" ] || fail "the bundle has no $binary: make it again"
	in_package "$1"
	shift
	"${under[@]}" "$binary" -test.v "$@" | tee "$scratch/tests"
	local status=${PIPESTATUS[0]}
	! grep -q 'no tests to run' "$scratch/tests" || fail "no test has that name: $*"
	return "$status"
}

step_machine() {
	uname -srm
	if command -v nvidia-smi >/dev/null; then
		nvidia-smi --query-gpu=index,name,driver_version,memory.total,clocks.max.sm,clocks.max.mem,compute_mode --format=csv
	fi
	"$bundle/bin/reprise" devices | tee "$scratch/devices" || fail "bin/reprise does not start here"
	grep -q "^$device " "$scratch/devices" || fail "there is no device $device: see reprise doctor"
}

step_conformance() { go_tests cuda -test.run 'Conformance|Faults'; }

# All tests of package cuda, including the differential tests and the results of incorrect calls.
step_tests() { go_tests cuda; }

# Programs with a comment "// env:" require certain simulated GPUs, and are left out.
step_programs() {
	need gcc "install a C compiler"
	local source program status=0 name
	in_package cuda/libcudasim/testdata
	for source in *.c; do
		name=${source%.c}
		if grep -q '^// env:' "$source"; then
			echo "$name: left out, it requires simulated GPUs"
			continue
		fi
		program=$scratch/$name
		if gcc -std=c11 -D_GNU_SOURCE -O1 -pthread -I"$bundle/src/cuda/include" "$source" -o "$program" "$link" -lm && "$program"; then
			echo "$name: ok"
		else
			echo "$name: FAILED"
			status=1
		fi
	done
	return $status
}

step_header() {
	need g++ "install a C++ compiler"
	go_tests cuda/include -test.run 'TestToolkit|TestRecorded' || return
	! grep -q '^--- SKIP: TestToolkit' "$scratch/tests" || skip "$(sed -n 's/^ *abi_test.go:[0-9]*: //p' "$scratch/tests" | head -1)"
}

# The toolkit must compile the kernels and assemble the committed PTX.
step_ptx() {
	need nvcc "install the CUDA toolkit, or set PATH"
	need ptxas "install the CUDA toolkit, or set PATH"
	local file status=0
	in_package internal/kernels
	for file in *.cu; do
		nvcc -ptx -arch=compute_75 -o "$scratch/x.ptx" "$file" || status=1
	done
	for file in *.ptx; do
		ptxas -arch=sm_80 -o "$scratch/x.cubin" "$file" || status=1
	done
	[ $status -ne 0 ] || echo "$(ls ./*.cu | wc -l) kernels compiled, $(ls ./*.ptx | wc -l) assembled"
	return $status
}

step_calibrate() { "$bundle/bin/reprise" calibrate --device "$device" -o "$out/profile.json"; }

step_bench() { "$bundle/bin/reprise" bench --device "$device" --json "$out/bench.json"; }

# The profile is that of the step calibrate, if it ran. What the simulator predicts for these rows is in the log.
step_validate() {
	local flags profile=()
	read -ra flags <<<"${VALIDATE_FLAGS-}"
	[ ! -f "$out/profile.json" ] || profile=(--profile "$out/profile.json")
	rm -rf "$out/rows" # of an earlier run into this folder
	"$bundle/bin/reprise" validate --record "$out/rows" --device "$device" "${profile[@]}" "${flags[@]}" || return
	"$bundle/bin/reprise" validate "$out/rows/train/rows.csv"
}

# The C++ programs contain no simulator: they run on the driver LIBCUDA if it is set.
step_compare() {
	local simulated=() flags
	read -ra flags <<<"${COMPARE_FLAGS:---memory all}"
	[ -z "${LIBCUDA-}" ] || simulated=(--libcudasim "$LIBCUDA")
	"$bundle/bin/reprise" compare --device "$device" "${simulated[@]}" "${flags[@]}" --json "$out/compare.json"
}

step_sanitizer() {
	need compute-sanitizer "it comes with the CUDA toolkit"
	# Some tests make calls that must fail, so only errors in kernels are reported.
	under=(compute-sanitizer --report-api-errors no --error-exitcode 9)
	go_tests cuda -test.short -test.run Conformance
}

# A step runs in a session of its own, so that all of its processes can be ended.
if [ "${1-}" = --step ]; then
	under=()
	link=${LIBCUDA:--l:libcuda.so.1}
	"step_$2"
	exit
fi

usage() {
	sed -n '2,/^set /s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
	exit 2
}

export device=gpu0 out=
while getopts d:o:h flag; do
	case $flag in
	d) device=$OPTARG ;;
	o) out=$OPTARG ;;
	*) usage ;;
	esac
done
shift $((OPTIND - 1))
steps=("${all_steps[@]}")
[ $# -eq 0 ] || steps=("$@")
for step in "${steps[@]}"; do
	[[ " ${all_steps[*]} " == *" $step "* ]] || { echo "there is no step $step; the steps are ${all_steps[*]}" >&2; exit 2; }
done

# shellcheck source=/dev/null
source "$bundle/bundle.env" # sets commit, built and glibc
date=$(date -u +%Y-%m-%dT%H:%M:%SZ)
out=${out:-results-$(date -u +%Y%m%dT%H%M%SZ)}
mkdir -p "$out" && out=$(cd "$out" && pwd) || { echo "cannot make the folder $out" >&2; exit 2; }
scratch=$(mktemp -d) && export scratch
trap 'rm -rf "$scratch"' EXIT

have=$(getconf GNU_LIBC_VERSION 2>/dev/null | cut -d' ' -f2)
if [ "$(printf '%s\n' "$glibc" "${have:-0}" | sort -V | head -1)" != "$glibc" ]; then
	echo "this machine has glibc ${have:-of no known version}, and the bundle needs $glibc: make it on a system as old as this one" >&2
	exit 2
fi

# text STRING prints a JSON string of the printable ASCII characters.
text() {
	local s=${1//\\/\\\\}
	s=${s//\"/\\\"}
	printf '"%s"' "$(printf '%s' "$s" | tr '\n\t' '  ' | tr -cd ' -~')"
}

gpu() { nvidia-smi --query-gpu="$1" --format=csv,noheader 2>/dev/null | head -1; }

toolkit() { nvcc --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\).*/\1/p'; }

records=()
# record STEP STATUS SECONDS REASON
record() {
	records+=("    {\"step\": $(text "$1"), \"status\": $(text "$2"), \"seconds\": $3, \"reason\": $(text "$4"), \"log\": $(text "$1.log")}")
	printf '%-12s %-11s %6ss  %s\n' "$1" "$2" "$3" "$4"
}

write() {
	local name driver
	name=$(gpu name) driver=$(gpu driver_version)
	[ -z "${REPRISE_LIBCUDA-}" ] || name="simulated or chosen by REPRISE_LIBCUDA=$REPRISE_LIBCUDA" driver=$REPRISE_LIBCUDA
	{
		printf '{\n  "format": "reprise-gpu-check",\n  "version": 1,\n  "status": %s,\n' "$(text "$1")"
		printf '  "device": %s,\n  "name": %s,\n  "driver": %s,\n  "toolkit": %s,\n  "glibc": %s,\n' "$(text "$device")" \
			"$(text "$name")" "$(text "$driver")" "$(text "$(toolkit)")" "$(text "${have:-}")"
		printf '  "commit": %s,\n  "built": %s,\n  "date": %s,\n  "steps": [\n' "$(text "$commit")" "$(text "$built")" "$(text "$date")"
		local IFS=$'\n' separator=
		for r in "${records[@]}"; do
			printf '%s%s' "$separator" "$r"
			separator=$',\n'
		done
		printf '\n  ]\n}\n'
	} >"$out/check.json.new" && mv "$out/check.json.new" "$out/check.json"
}

interrupted=
trap 'interrupted=yes' INT TERM
end_step() { kill -TERM -- "-$1" 2>/dev/null; sleep 0.2; kill -KILL -- "-$1" 2>/dev/null; }

status=ok
for step in "${steps[@]}"; do
	log=$out/$step.log
	began=$SECONDS late=
	setsid -- "${BASH_SOURCE[0]}" --step "$step" >"$log" 2>&1 &
	pid=$!
	while kill -0 "$pid" 2>/dev/null && [ -z "$interrupted" ] && [ -z "$late" ]; do
		sleep 0.1
		[ $((SECONDS - began)) -lt "${STEP_SECONDS:-900}" ] || late=yes
	done
	[ -z "$interrupted$late" ] || end_step "$pid"
	wait "$pid" 2>/dev/null
	code=$?
	last=$(grep -v '^[[:space:]]*$' "$log" | tail -1 | cut -c1-200)
	if [ -n "$interrupted" ]; then
		record "$step" interrupted $((SECONDS - began)) "$last"
		status=interrupted
		break
	elif [ -n "$late" ]; then
		record "$step" failed $((SECONDS - began)) "took more than ${STEP_SECONDS:-900} s"
		status=failed
	elif [ $code -eq 0 ]; then
		record "$step" ok $((SECONDS - began)) ""
	elif [ $code -eq $skipped ]; then
		record "$step" skipped $((SECONDS - began)) "$last"
	else
		record "$step" failed $((SECONDS - began)) "$last"
		status=failed
	fi
	write "$status"
done
write "$status"
echo "$status: $out/check.json"
case $status in
ok) exit 0 ;;
failed) exit 1 ;;
*) exit 130 ;;
esac
