"""Runs PyCUDA, unmodified, on the driver that it finds: launches, memory of every kind, arrays, textures, streams,
events, contexts, peers, other processes, callbacks and linking, then gpuarray on top of them.

Every function whose name starts with test_ is one test. Each runs in a context of its own on GPU 0. Two GPUs are
required. The last line counts: "pycuda: N passed, N failed".

    pycuda_driver.py [NAME...]    all tests, or those whose name contains one of NAME
"""

import ctypes
import os
import subprocess
import sys
import threading
import time
import traceback

import numpy as np
import pycuda.driver as cuda

KERNELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "internal", "kernels")


def compiled(source, **options):
    """A module of CUDA C++, compiled by nvcc."""
    from pycuda.compiler import SourceModule

    return SourceModule(source, **options)


def square():
    """The kernel square(x, y, n) of this project, from its PTX: y[i] = x[i] * x[i]."""
    with open(os.path.join(KERNELS, "square.ptx"), "rb") as ptx:
        return cuda.module_from_buffer(ptx.read()).get_function("square")


def numbers(n, dtype=np.float32):
    return np.arange(n, dtype=dtype)


def same(got, want):
    np.testing.assert_array_equal(got, want)


def fails(error, call, *args):
    """The text of the error that a call has to raise."""
    try:
        call(*args)
    except error as e:
        return str(e)
    raise AssertionError(f"{call.__name__} did not raise {error.__name__}")


# Devices and contexts.


def test_device_is_described():
    device = cuda.Device(0)
    assert device.name() and device.total_memory() > 1 << 30
    assert cuda.get_driver_version() >= 11000
    attributes = device.get_attributes()
    assert attributes[cuda.device_attribute.WARP_SIZE] == 32
    assert device.compute_capability() == (device.compute_capability_major, device.compute_capability_minor)
    assert cuda.Device(device.pci_bus_id()).name() == device.name()
    assert device.pci_bus_id() != cuda.Device(1).pci_bus_id()


def test_contexts_stack():
    first = cuda.Context.get_current()
    second = cuda.Device(1).make_context()
    assert cuda.Context.get_device() == cuda.Device(1)
    memory = cuda.to_device(numbers(8))
    second.pop()
    assert cuda.Context.get_device() == cuda.Device(0)
    second.push()
    same(cuda.from_device(memory, 8, np.float32), numbers(8))
    memory.free()
    second.pop()
    second.detach()
    assert cuda.Context.get_current() == first


def test_memory_is_freed_after_its_context_is_popped():
    context = cuda.Device(1).make_context()
    memory, pinned = cuda.mem_alloc(1 << 20), cuda.pagelocked_empty(100, np.float32)
    stream, event = cuda.Stream(), cuda.Event()
    context.pop()
    memory.free()
    del pinned, stream, event
    context.push()
    context.pop()
    context.detach()


def test_primary_context_is_shared():
    primary = cuda.Device(1).retain_primary_context()
    primary.push()
    memory = cuda.to_device(numbers(4))
    primary.pop()
    again = cuda.Device(1).retain_primary_context()
    again.push()
    same(cuda.from_device(memory, 4, np.float32), numbers(4))
    memory.free()
    again.pop()


def test_context_has_limits_and_settings():
    assert cuda.Context.get_current().get_api_version() >= 3010
    size = 8 << 20
    cuda.Context.set_limit(cuda.limit.MALLOC_HEAP_SIZE, size)
    assert cuda.Context.get_limit(cuda.limit.MALLOC_HEAP_SIZE) >= size
    cuda.Context.set_cache_config(cuda.func_cache.PREFER_L1)
    cuda.Context.set_shared_config(cuda.shared_config.EIGHT_BYTE_BANK_SIZE)
    free, total = cuda.mem_get_info()
    assert 0 < free <= total


def test_threads_have_contexts_of_their_own():
    results = {}

    def work(ordinal):
        context = cuda.Device(ordinal).make_context()
        x, y = cuda.to_device(numbers(64) + ordinal), cuda.mem_alloc(256)
        square()(x, y, np.int32(64), block=(64, 1, 1))
        results[ordinal] = cuda.from_device(y, 64, np.float32)
        x.free(), y.free()
        context.pop()
        context.detach()

    threads = [threading.Thread(target=work, args=(i % 2,)) for i in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for ordinal in range(2):
        same(results[ordinal], (numbers(64) + ordinal) ** 2)


# Memory.


def test_copies_and_fills():
    x = numbers(1000, np.int32)
    a, b = cuda.to_device(x), cuda.mem_alloc(x.nbytes)
    cuda.memcpy_dtod(b, a, x.nbytes)
    same(cuda.from_device_like(b, x), x)
    cuda.memset_d32(b, 7, 500)
    cuda.memset_d16(int(b) + 2000, 0x0102, 500)
    cuda.memset_d8(int(b) + 3000, 0xFF, 1000)
    want = np.concatenate([np.full(500, 7), np.full(250, 0x01020102), np.full(250, -1)]).astype(np.int32)
    same(cuda.from_device_like(b, x), want)
    base, size = cuda.mem_get_address_range(int(b) + 100)
    assert base == int(b) and size >= x.nbytes


def test_pitched_memory_and_boxes():
    x = numbers(7 * 5, np.int32).reshape(7, 5)
    memory, pitch = cuda.mem_alloc_pitch(5 * 4, 7, 4)
    cuda.memset_d2d32(memory, pitch, 9, 5, 7)
    copy = cuda.Memcpy2D()
    copy.set_src_host(x)
    copy.set_dst_device(memory)
    copy.src_pitch, copy.dst_pitch, copy.width_in_bytes, copy.height = 20, pitch, 12, 7
    copy(aligned=True)
    back = np.empty_like(x)
    copy = cuda.Memcpy2D()
    copy.set_src_device(memory)
    copy.set_dst_host(back)
    copy.src_pitch, copy.dst_pitch, copy.width_in_bytes, copy.height = pitch, 20, 20, 7
    copy(aligned=False)
    want = x.copy()
    want[:, 3:] = 9
    same(back, want)


def test_pinned_mapped_and_registered_memory():
    mapped = cuda.pagelocked_zeros(64, np.float32, mem_flags=cuda.host_alloc_flags.DEVICEMAP)
    own = cuda.register_host_memory(cuda.aligned_zeros((64,), np.float32), cuda.mem_host_register_flags.DEVICEMAP)
    mapped[:] = numbers(64)
    square()(
        np.intp(mapped.base.get_device_pointer()),
        np.intp(own.base.get_device_pointer()),
        np.int32(64),
        block=(64, 1, 1),
    )
    cuda.Context.synchronize()
    same(own, numbers(64) ** 2)
    own.base.unregister()


def test_managed_memory():
    x = cuda.managed_empty(64, np.float32, mem_flags=cuda.mem_attach_flags.GLOBAL)
    y = cuda.managed_zeros(64, np.float32, mem_flags=cuda.mem_attach_flags.GLOBAL)
    x[:] = numbers(64)
    square()(x, y, np.int32(64), block=(64, 1, 1))
    cuda.Context.synchronize()
    same(y, numbers(64) ** 2)


def test_memory_of_another_process():
    memory = cuda.to_device(numbers(64))
    handle = cuda.mem_get_ipc_handle(memory)
    assert "cuIpcOpenMemHandle" in fails(cuda.LogicError, cuda.IPCMemoryHandle, handle)  # that is its own
    child = """if True:
        import sys
        import numpy as np
        import pycuda.driver as cuda
        cuda.init()
        context = cuda.Device(0).make_context()
        memory = cuda.IPCMemoryHandle(bytearray.fromhex(sys.argv[1]))
        values = cuda.from_device(int(memory), 64, np.float32)
        cuda.memcpy_htod(int(memory), values ** 2)
        memory.close()
        context.pop()
    """
    subprocess.run([sys.executable, "-W", "ignore", "-c", child, bytes(handle).hex()], check=True)
    same(cuda.from_device(memory, 64, np.float32), numbers(64) ** 2)
    memory.free()


def test_memory_pools():
    from pycuda.tools import DeviceMemoryPool, PageLockedMemoryPool

    pool, pinned = DeviceMemoryPool(), PageLockedMemoryPool()
    first = pool.allocate(1000)
    at = int(first)
    first.free()
    second = pool.allocate(1000)
    assert (int(second), pool.active_blocks, pool.held_blocks) == (at, 1, 0)
    host = pinned.allocate((10,), np.float32)
    host[:] = numbers(10)
    cuda.memcpy_htod(second, host)
    same(cuda.from_device(second, 10, np.float32), numbers(10))
    second.free()
    pool.stop_holding()
    pinned.stop_holding()


def test_too_much_memory_is_refused():
    assert "memory" in fails(cuda.MemoryError, cuda.mem_alloc, 1 << 50)
    cuda.mem_alloc(1 << 20).free()


# Kernels.


def test_launch():
    x, y = cuda.In(numbers(1000)), np.zeros(1000, np.float32)
    kernel = square()
    seconds = kernel(x, cuda.Out(y), np.int32(1000), grid=(4, 1), block=(256, 1, 1), time_kernel=True)
    same(y, numbers(1000) ** 2)
    assert seconds >= 0 and kernel.num_regs > 0 and kernel.max_threads_per_block == 1024
    assert kernel.local_size_bytes == 0 and kernel.shared_size_bytes == 0


def test_prepared_launch():
    kernel = square().prepare("PPi")
    x, y = cuda.to_device(numbers(256)), cuda.mem_alloc(1024)
    kernel.prepared_call((1, 1), (256, 1, 1), x, y, 256)
    same(cuda.from_device(y, 256, np.float32), numbers(256) ** 2)
    took = kernel.prepared_timed_call((1, 1), (256, 1, 1), y, x, 256)
    assert took() > 0
    same(cuda.from_device(x, 256, np.float32), (numbers(256) ** 2) ** 2)
    stream = cuda.Stream()
    kernel.prepared_async_call((1, 1), (256, 1, 1), stream, y, x, 256)
    stream.synchronize()


def test_launch_with_constants_shared_memory_and_structures():
    module = compiled(
        """
        struct pair { float a; int b; };
        __constant__ float weights[4];
        __device__ int launches;
        extern __shared__ float partial[];
        extern "C" __global__ void weigh(float *out, const float *in, pair p, float3 v) {
            int i = threadIdx.x;
            partial[i] = in[i] * weights[i % 4] * p.a + p.b + v.z;
            __syncthreads();
            out[i] = partial[blockDim.x - 1 - i];
            if (i == 0) atomicAdd(&launches, 1);
        }""",
        no_extern_c=True,
    )
    weights, (at, size) = np.array([1, 2, 3, 4], np.float32), module.get_global("weights")
    assert size == weights.nbytes
    cuda.memcpy_htod(at, weights)
    pair = np.zeros((), np.dtype([("a", np.float32), ("b", np.int32)]))
    pair["a"], pair["b"] = 2, 5
    from pycuda.gpuarray import vec

    out = np.zeros(64, np.float32)
    weigh = module.get_function("weigh")
    for _ in range(2):
        weigh(cuda.Out(out), cuda.In(numbers(64)), pair[()], vec.make_float3(0, 0, 7), block=(64, 1, 1), shared=256)
    same(out, (numbers(64) * np.tile(weights, 16) * 2 + 12)[::-1])
    launches = np.zeros(1, np.int32)
    cuda.memcpy_dtoh(launches, module.get_global("launches")[0])
    same(launches, [2])


def test_printf():
    module = compiled(
        '#include <stdio.h>\n__global__ void hello() { if (threadIdx.x == 0) printf("block %d\\n", blockIdx.x); }'
    )
    sys.stdout.flush()
    read, write = os.pipe()
    kept = os.dup(1)
    os.dup2(write, 1)
    try:
        module.get_function("hello")(grid=(2, 1), block=(32, 1, 1))
        cuda.Context.synchronize()
    finally:
        os.dup2(kept, 1)
        os.close(write)
        os.close(kept)
    assert os.read(read, 100) == b"block 0\nblock 1\n"
    os.close(read)


def test_linking():
    from pycuda.compiler import DynamicModule

    module = DynamicModule()
    module.add_source(
        'extern __device__ int twice(int); extern "C" __global__ void run(int *p) { *p = twice(*p); }',
        nvcc_options=["-rdc=true"],
    )
    module.add_source("__device__ int twice(int x) { return 2 * x; }", nvcc_options=["-rdc=true"])
    module.link()
    value = np.array([21], np.int32)
    module.get_function("run")(cuda.InOut(value), block=(1, 1, 1))
    same(value, [42])


def test_errors_are_exceptions():
    module = compiled("__global__ void a() {}")
    assert "cuModuleGetFunction failed" in fails(cuda.LogicError, module.get_function, "b")
    assert "cuModuleLoadDataEx failed" in fails(cuda.LogicError, cuda.module_from_buffer, b"no PTX")
    assert "failed" in fails(cuda.LogicError, lambda: module.get_function("a")(block=(2048, 1, 1)))
    from pycuda.compiler import compile

    fails(cuda.CompileError, compile, "__global__ void a() { oops }")


# Arrays, textures and surfaces.


def test_arrays():
    x = numbers(6 * 8).reshape(6, 8)
    array = cuda.matrix_to_array(x, order="C")
    described = array.get_descriptor()
    assert (described.width, described.height, described.num_channels) == (8, 6, 1)
    copy = cuda.Memcpy2D()
    back = np.empty_like(x)
    copy.set_src_array(array)
    copy.set_dst_host(back)
    copy.width_in_bytes, copy.dst_pitch, copy.height = 32, 32, 6
    copy(aligned=True)
    same(back, x)
    cube = numbers(3 * 4 * 5).reshape(3, 4, 5)
    array = cuda.np_to_array(cube, order="C")
    assert array.get_descriptor_3d().depth == 3
    array.free()


def test_texture_of_linear_memory():
    module = compiled(
        """
        texture<int, 1, cudaReadModeElementType> tex;
        __global__ void gather(int *out) { out[threadIdx.x] = tex1Dfetch(tex, 31 - threadIdx.x); }"""
    )
    tex, x = module.get_texref("tex"), numbers(32, np.int32)
    memory = cuda.to_device(x)
    tex.set_address(memory, x.nbytes)
    tex.set_format(cuda.array_format.SIGNED_INT32, 1)
    out = np.zeros_like(x)
    module.get_function("gather")(cuda.Out(out), block=(32, 1, 1), texrefs=[tex])
    same(out, x[::-1])


def test_texture_of_an_array():
    module = compiled(
        """
        texture<float, 2, cudaReadModeElementType> tex;
        __global__ void look(float *out) {
            int x = threadIdx.x, y = threadIdx.y;
            out[y * blockDim.x + x] = tex2D(tex, x + 0.5f, y + 1.0f);
        }"""
    )
    x, tex = numbers(8 * 8).reshape(8, 8), module.get_texref("tex")
    cuda.matrix_to_texref(x, tex, order="C")
    tex.set_filter_mode(cuda.filter_mode.LINEAR)
    tex.set_address_mode(1, cuda.address_mode.CLAMP)
    out = np.zeros_like(x)
    module.get_function("look")(cuda.Out(out), block=(8, 8, 1), texrefs=[tex])
    below = np.vstack([x[1:], x[-1:]])
    same(out, (x + below) / 2)
    assert tex.get_filter_mode() == cuda.filter_mode.LINEAR


def test_surface_of_an_array():
    module = compiled(
        """
        surface<void, 2> surf;
        extern "C" __global__ void add(int n) {
            int value;
            surf2Dread(&value, surf, threadIdx.x * 4, threadIdx.y);
            surf2Dwrite(value + n, surf, threadIdx.x * 4, threadIdx.y);
        }""",
        no_extern_c=True,
    )
    x = numbers(4 * 8, np.int32).reshape(4, 8)
    array = cuda.np_to_array(x, order="C", allowSurfaceBind=True)
    module.get_surfref("surf").set_array(array, 0)
    module.get_function("add")(np.int32(100), block=(8, 4, 1))
    back, copy = np.empty_like(x), cuda.Memcpy2D()
    copy.set_src_array(array)
    copy.set_dst_host(back)
    copy.width_in_bytes, copy.dst_pitch, copy.height = 32, 32, 4
    copy(aligned=True)
    same(back, x + 100)


# Streams and events.


def test_streams_and_events():
    n = 1 << 16
    pinned, back = cuda.pagelocked_empty(n, np.float32), cuda.pagelocked_empty(n, np.float32)
    pinned[:] = numbers(n)
    one, two, kernel = cuda.Stream(), cuda.Stream(), square()
    x, y = cuda.mem_alloc(4 * n), cuda.mem_alloc(4 * n)
    start, ready, end = cuda.Event(), cuda.Event(cuda.event_flags.DISABLE_TIMING), cuda.Event()
    start.record(one)
    cuda.memcpy_htod_async(x, pinned, one)
    ready.record(one)
    two.wait_for_event(ready)
    kernel(x, y, np.int32(n), grid=(n // 256, 1), block=(256, 1, 1), stream=two)
    cuda.memcpy_dtoh_async(back, y, two)
    end.record(two).synchronize()
    assert end.query() and two.is_done()
    same(back, numbers(n) ** 2)
    assert start.time_till(end) == end.time_since(start) > 0
    cuda.memset_d32_async(x, 3, n, one)
    cuda.memcpy_dtod_async(y, x, 4 * n, one)
    one.synchronize()
    same(cuda.from_device(y, n, np.int32), np.full(n, 3))


def test_event_without_timing_has_no_time():
    first, second = cuda.Event(cuda.event_flags.DISABLE_TIMING), cuda.Event()
    first.record()
    second.record().synchronize()
    fails(cuda.LogicError, second.time_since, first)


def driver_library():
    """The driver that PyCUDA is linked with, for functions that PyCUDA does not wrap."""
    return ctypes.CDLL("libcuda.so.1")


def test_callbacks():
    seen, stream = [], cuda.Stream()
    kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
    callback = kind(lambda stream, status, data: seen.append((status, data)))
    add = driver_library().cuStreamAddCallback
    add.argtypes = [ctypes.c_void_p, kind, ctypes.c_void_p, ctypes.c_uint]
    cuda.memset_d32_async(cuda.mem_alloc(4096), 1, 1024, stream)
    for data in range(1, 4):
        assert add(stream.handle, callback, data, 0) == 0
    until = time.monotonic() + 10
    while len(seen) < 3 and time.monotonic() < until:
        time.sleep(0.01)  # no driver call: the callbacks have to come by themselves
    assert seen == [(0, 1), (0, 2), (0, 3)], seen
    stream.synchronize()


def test_profiler():
    cuda.start_profiler()
    square()(cuda.In(numbers(32)), cuda.Out(np.zeros(32, np.float32)), np.int32(32), block=(32, 1, 1))
    cuda.stop_profiler()


# Several GPUs.


def test_peers():
    here, x = cuda.Context.get_current(), numbers(1000)
    assert cuda.Device(0).can_access_peer(cuda.Device(1))
    mine = cuda.to_device(x)
    there = cuda.Device(1).make_context()
    theirs = cuda.mem_alloc(x.nbytes)
    cuda.memcpy_peer(theirs, mine, x.nbytes, there, here)
    same(cuda.from_device_like(theirs, x), x)
    there.enable_peer_access(here)
    square()(mine, theirs, np.int32(1000), grid=(4, 1), block=(256, 1, 1))
    same(cuda.from_device_like(theirs, x), x**2)
    there.disable_peer_access(here)
    theirs.free()
    there.pop()
    there.detach()


# Arrays of numbers on top of it all.


def test_gpuarray():
    from pycuda import cumath, gpuarray

    x = gpuarray.arange(0, 1000, 1, dtype=np.float32)
    y = gpuarray.to_gpu(np.full(1000, 2, np.float32))
    same((3 * x + y).get(), 3 * numbers(1000) + 2)
    same((x[10:20] * y[:10]).get(), numbers(20)[10:] * 2)
    same(gpuarray.sum(x).get(), numbers(1000).sum())
    same(gpuarray.max(x).get(), 999)
    same(gpuarray.dot(x, y).get(), 999000)
    np.testing.assert_allclose(cumath.sqrt(x).get(), np.sqrt(numbers(1000)), rtol=1e-6)
    same(x.reshape(10, 100).T.get(), numbers(1000).reshape(10, 100).T)


def test_elementwise_reduction_and_scan():
    from pycuda import gpuarray
    from pycuda.elementwise import ElementwiseKernel
    from pycuda.reduction import ReductionKernel
    from pycuda.scan import InclusiveScanKernel

    x, y = gpuarray.to_gpu(numbers(5000, np.int32)), gpuarray.zeros(5000, np.int32)
    ElementwiseKernel("int *x, int *y, int k", "y[i] = k * x[i] + 1", "affine")(x, y, 3)
    same(y.get(), 3 * numbers(5000, np.int32) + 1)
    most = ReductionKernel(np.int32, neutral="0", reduce_expr="max(a, b)", map_expr="x[i] ^ 5", arguments="int *x")
    same(most(x).get(), (numbers(5000, np.int32) ^ 5).max())
    InclusiveScanKernel(np.int32, "a + b")(x)
    same(x.get(), np.cumsum(numbers(5000, np.int32)))


def run(test):
    """Whether a test passes in a context of its own, which has to be current again at the end."""
    context = cuda.Device(0).make_context()
    try:
        test()
        assert cuda.Context.get_current() == context, "another context is current"
        return True
    except Exception:
        traceback.print_exc()
        return False
    finally:
        context.pop()
        context.detach()


def main(names):
    cuda.init()
    if cuda.Device.count() < 2:
        sys.exit("these tests require two GPUs: set REPRISE_SIM=h200,h200")
    tests = [f for name, f in globals().items() if name.startswith("test_")]
    chosen = [f for f in tests if not names or any(name in f.__name__ for name in names)]
    passed = 0
    for test in chosen:
        ok = run(test)
        passed += ok
        print("ok  " if ok else "FAIL", test.__name__, flush=True)
    print(f"pycuda: {passed} passed, {len(chosen) - passed} failed")
    return passed < len(chosen)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
