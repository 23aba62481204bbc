#!/usr/bin/env bash
# Runs clients of the CUDA driver that others wrote, unmodified, on build/libcuda.so.1: Numba and PyCUDA, as Debian
# packages them. What is not installed is left out, with a message; see docs/CLIENTS.md for the packages.
#
#   run.sh numba        a selection of Numba's own CUDA tests, of which every one has to pass (half a minute)
#   run.sh numba-all    all of them (a quarter of an hour on two cores)
#   run.sh pycuda       pycuda_driver.py: launches, arrays, streams, events and the rest (half a minute)
#   run.sh pycuda-own   PyCUDA's own tests, which python-pycuda-doc holds (needs python3-pytest)
#
# Several may be named. What follows "--" goes to the last.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
work=$root/build/clients
toolkit=$work/cuda
system=/usr/lib/x86_64-linux-gnu
python=${PYTHON:-/usr/bin/python3} # Debian's modules are for Debian's interpreter

[ $# -gt 0 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2; }

# leave_out WHAT WHY PACKAGES says that a client is not run.
leave_out() {
	echo "$1: left out, $2: apt-get install --no-install-recommends $3 (contrib and non-free have to be enabled)"
}

# has MODULE reports whether a module of Python is installed. pycuda.driver cannot be imported without the driver.
has() { "$python" -c "import importlib.util as u, sys; sys.exit(u.find_spec('$1') is None)" 2>/dev/null; }

# make_toolkit puts a toolkit together where Numba looks for one: NVIDIA's compiler libraries as they are
# installed, and a stand-in for the runtime.
make_toolkit() {
	mkdir -p "$toolkit/lib64" "$toolkit/nvvm/lib64"
	${CC:-cc} -O2 -Wall -Wextra -Werror -shared -fPIC "$here/cudart.c" -o "$toolkit/lib64/libcudart.so.11.0"
	ln -sf "$system/libcudadevrt.a" "$toolkit/lib64/"
	ln -sf "$system/libnvvm.so.4" "$toolkit/nvvm/lib64/"
	ln -sfn /usr/lib/nvidia-cuda-toolkit/libdevice "$toolkit/nvvm/libdevice"
	ln -sfn /usr/include "$toolkit/include"
}

numba() {
	has numba || { leave_out numba "it is not installed" "python3-numba nvidia-cuda-toolkit"; return; }
	[ -e "$system/libnvvm.so.4" ] && [ -e /usr/lib/nvidia-cuda-toolkit/libdevice ] ||
		{ leave_out numba "it cannot compile without libNVVM and libdevice" nvidia-cuda-toolkit; return; }
	make_toolkit
	CUDA_HOME=$toolkit NUMBA_CUDA_INCLUDE_PATH=$toolkit/include NUMBA_CUDA_DRIVER=$root/build/libcuda.so.1 \
		LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$toolkit/lib64 "$python" "$here/numba_tests.py" "$@"
}

pycuda() {
	has pycuda || { leave_out pycuda "it is not installed" python3-pycuda; return; }
	"$python" -W ignore "$here/pycuda_driver.py" "$@"
}

pycuda_own() {
	local tests=/usr/share/doc/python-pycuda-doc/examples
	has pycuda || { leave_out pycuda-own "PyCUDA is not installed" python3-pycuda; return; }
	has pytest && [ -e $tests/test_driver.py ] ||
		{ leave_out pycuda-own "its tests are not installed" "python3-pytest python-pycuda-doc"; return; }
	# Three tests have 2^32 elements: an hour, and 13 GB of memory.
	# Beside the tests there are scripts of a wiki, some of which later releases of NumPy refuse.
	[ $# -gt 0 ] || set -- "$tests"/test_*.py
	(cd "$work" && "$python" -m pytest -q -W ignore -p no:cacheprovider -k "not big_array" "$@")
}

mkdir -p "$work"
# Two GPUs, for the tests of peers. PyCUDA keeps what it compiles in a cache.
export REPRISE_SIM=${REPRISE_SIM:-h200,h200} LD_LIBRARY_PATH=$root/build PATH=$here/bin:$PATH XDG_CACHE_HOME=$work/cache

while [ $# -gt 0 ]; do
	client=$1 rest=()
	shift
	if [ "${1:-}" = -- ]; then
		rest=("${@:2}")
		set --
	fi
	case $client in
	numba) numba "${rest[@]}" ;;
	numba-all) numba --all "${rest[@]}" ;;
	pycuda) pycuda "${rest[@]}" ;;
	pycuda-own) pycuda_own "${rest[@]}" ;;
	*) echo "$client is no client: numba, numba-all, pycuda or pycuda-own" >&2; exit 2 ;;
	esac
done
