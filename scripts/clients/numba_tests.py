"""Runs Numba's own CUDA tests, unmodified, and checks how many pass. run.sh sets the environment.

    numba_tests.py               the selection, in one process; SELECTED_TESTS tests have to pass, and none may fail
    numba_tests.py --all         all modules, each in a process of its own; fails if a test fails that is not EXCEPTED
    numba_tests.py --all MODULE  those modules alone

The last line counts: "numba: N passed, N failed, N skipped".
"""

import argparse
import concurrent.futures
import os
import re
import subprocess
import sys

TESTS = "numba.cuda.tests"

# Modules of the selection, and how many of their tests pass at least.
SELECTED = [
    "cudadrv.test_array_attr",
    "cudadrv.test_context_stack",
    "cudadrv.test_cuda_array_slicing",
    "cudadrv.test_cuda_auto_context",
    "cudadrv.test_cuda_devicerecord",
    "cudadrv.test_cuda_driver",
    "cudadrv.test_cuda_memory",
    "cudadrv.test_cuda_ndarray",
    "cudadrv.test_deallocations",
    "cudadrv.test_emm_plugins",
    "cudadrv.test_events",
    "cudadrv.test_host_alloc",
    "cudadrv.test_inline_ptx",
    "cudadrv.test_linker",
    "cudadrv.test_nvvm_driver",
    "cudadrv.test_pinned",
    "cudadrv.test_profiler",
    "cudadrv.test_reset_device",
    "cudadrv.test_runtime",
    "cudadrv.test_select_device",
    "cudadrv.test_streams",
    "cudapy.test_array",
    "cudapy.test_array_args",
    "cudapy.test_blackscholes",
    "cudapy.test_constmem",
    "cudapy.test_cooperative_groups",
    "cudapy.test_cuda_array_interface",
    "cudapy.test_device_func",
    "cudapy.test_forall",
    "cudapy.test_mandel",
    "cudapy.test_minmax",
    "cudapy.test_multigpu",
    "cudapy.test_multithreads",
    "cudapy.test_slicing",
    "cudapy.test_sm_creation",
    "cudapy.test_sync",
    "cudapy.test_record_dtype",
    "cudapy.test_warp_ops",
]
SELECTED_TESTS = 388

# Tests that fail, by module, class and name, with the reason.
EXCEPTED = {
    "cudapy.test_debug.TestDebugOutput.test_dump_bytecode": "Numba: it expects an opcode that Python 3.11 no longer has",
    "cudapy.test_inspect.TestInspect.test_inspect_sass_eager": "it disassembles machine code, and a linked image is PTX",
    "cudapy.test_inspect.TestInspect.test_inspect_sass_lazy": "it disassembles machine code, and a linked image is PTX",
    "cudapy.test_localmem.TestCudaLocalMem.test_struct_model_type_arr":
        "Numba: it writes 40 bytes into arrays of 4, which is a fault here",
    "cudapy.test_sm.TestSharedMemory.test_invalid_array_type": "Numba: its compiler reports the error in other words",
    "cudapy.test_localmem.TestCudaLocalMem.test_type_with_struct_data_model": "it runs in the context of that fault",
}


class Result:
    """What a process of numba.runtests printed, in numbers and names."""

    def __init__(self, text):
        ran = re.search(r"^Ran (\d+) tests? in", text, re.M)
        verdict = re.search(r"^(OK|FAILED)( .*)?$", text, re.M)
        skipped = re.search(r"skipped=(\d+)", verdict[0]) if verdict else None
        self.ran = int(ran[1]) if ran else 0
        self.skipped = int(skipped[1]) if skipped else 0
        self.failed = sorted(set(re.findall(rf"^(?:ERROR|FAIL): \w+ \({TESTS}\.([\w.]+)", text, re.M)))
        # A process that was stopped has no verdict, and a module that cannot be imported has no test that failed.
        self.whole = verdict is not None and (verdict[1] == "OK") == (not self.failed)

    @property
    def passed(self):
        return self.ran - self.skipped - len(self.failed)


# Modules that fill half the memory of the GPU, which is the host's here, and the smaller GPU that they run on.
SMALLER = {"cudadrv.test_managed_alloc": "gtx1660s"}


def run(modules, timeout):
    """Runs modules in one process and returns its Result and its output."""
    environment = dict(os.environ)
    if len(modules) == 1:
        environment["REPRISE_SIM"] = SMALLER.get(modules[0], environment["REPRISE_SIM"])
    command = [sys.executable, "-m", "numba.runtests", "-v"] + [f"{TESTS}.{m}" for m in modules]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout, env=environment)
        output = done.stdout
    except subprocess.TimeoutExpired as e:
        output = (e.stdout or b"") + f"\nstopped after {timeout} s\n".encode()
    text = output.decode(errors="replace")
    return Result(text), text


def modules():
    """The names of all modules with CUDA tests."""
    listing = subprocess.run([sys.executable, "-m", "numba.runtests", "-l", TESTS], stdout=subprocess.PIPE, check=True)
    names = re.findall(rf"^{TESTS}\.([\w.]+)\.\w+\.\w+$", listing.stdout.decode(), re.M)
    return sorted(set(names))


def total(results):
    """Prints the last line."""
    passed, skipped = sum(r.passed for r in results), sum(r.skipped for r in results)
    failed = sum(r.ran for r in results) - passed - skipped
    print(f"numba: {passed} passed, {failed} failed, {skipped} skipped")


def run_selection():
    """Whether the tests of the selection pass, and are no fewer than before."""
    result, text = run(SELECTED, 300)
    passes = result.passed >= SELECTED_TESTS and not result.failed
    if not passes:
        print(text)
    total([result])
    return passes


def run_all(names, jobs):
    """Whether no test fails that is not excepted."""
    results, surprises = [], []
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for name, (result, text) in zip(names, pool.map(lambda m: run([m], 900), names)):
            results.append(result)
            unexpected = [f for f in result.failed if f not in EXCEPTED]
            if unexpected or not result.whole:
                print(text)
                surprises += unexpected or [f"{name} did not end"]
            print(f"{name}: {result.passed} passed, {len(result.failed)} failed, {result.skipped} skipped", flush=True)
    for result in results:
        for name in result.failed:
            print(f"failed: {name}: {EXCEPTED.get(name, 'NOT EXCEPTED')}")
    for name in surprises:
        print(f"not excepted: {name}")
    total(results)
    return not surprises


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("modules", nargs="*")
    options = parser.parse_args()
    passed = run_all(options.modules or modules(), options.jobs) if options.all else run_selection()
    sys.exit(not passed)


if __name__ == "__main__":
    main()
