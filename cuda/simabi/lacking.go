//go:build cuda && cgo

package simabi

// #include <cuda.h>
import "C"

import (
	"fmt"
	"regexp"
)

// lacking explains why functions are not implemented, by patterns of their symbols. The first match applies. The texts
// appear in docs/driver and in explanations of CUDA_ERROR_NOT_SUPPORTED.
var lacking = []struct {
	symbols *regexp.Regexp
	why     string
}{
	{regexp.MustCompile(`^cu(GL|Graphics|EGL|VDPAU)`), "no graphics interface shares resources with the simulated GPU"},
	{regexp.MustCompile(`^cu(Import|Destroy|Signal|Wait)External|^cuExternalMemory|^cuGraph.*ExternalSemaphores`), "memory and semaphores of other interfaces cannot be imported; other processes open memory with cuIpcOpenMemHandle"},
	{regexp.MustCompile(`^cuIpc\w*Event`), "processes do not share virtual time, so an event of one has no time in another; share memory with cuIpcGetMemHandle"},
	{regexp.MustCompile(`^cuMemPool(Ex|Im)port|^cuMemGetHandleForAddressRange|ShareableHandle`), "memory of the simulated GPU cannot be exported as a descriptor; share memory of cuMemAlloc with cuIpcGetMemHandle"},
	{regexp.MustCompile(`^cuDeviceGetNvSciSyncAttributes|^cuFlushGPUDirectRDMAWrites|^cuDeviceGetLuid`), "the simulated machine does not have this hardware or operating system"},
	{regexp.MustCompile(`GreenCtx|DevResource|^cuDevSmResource`), "the multiprocessors of a simulated GPU cannot be divided among contexts"},
	{regexp.MustCompile(`^cuCoredump`), "there are no core dumps; the error of a fault contains the kernel, the thread and the line"},
	{regexp.MustCompile(`^cuMulticast`), "the simulated GPUs have no multicast objects"},
	{regexp.MustCompile(`^cuTensorMap`), "kernels that use tensor maps are not simulated"},
	{regexp.MustCompile(`^cuMipmapped|Mipmap`), "mipmaps are not simulated: textures have one level"},
	{regexp.MustCompile(`SparseProperties|MemoryRequirements|^cuArrayGetPlane|^cuMemMapArray`), "arrays are neither sparse nor planar"},
	{regexp.MustCompile(`^cuLaunchCooperativeKernelMultiDevice`), "launches over several GPUs are not simulated: launch on each GPU with cuLaunchCooperativeKernel"},
	{regexp.MustCompile(`Cluster`), "clusters of blocks are not simulated"},
	{regexp.MustCompile(`AsyncNotification`), "the simulated GPU sends no notifications"},
	{regexp.MustCompile(`^cuGetExportTable`), "the interfaces between NVIDIA's own libraries are not public"},
	{regexp.MustCompile(`^cuLibraryGetUnifiedFunction`), "unified functions are not simulated"},
	{regexp.MustCompile(`^cuProfilerInitialize`), "there is no profiler to configure"},
	{regexp.MustCompile(`^cuMemGetAttribute`), "the function is not documented"},
	{regexp.MustCompile(`^cu(Array|Mem|Module|Device|TexRef)`), "this is the form before CUDA 3.2, with addresses and sizes of 32 bits: call the form that cuda.h declares"},
}

// why explains why a function is not implemented.
func why(symbol string) string {
	for _, l := range lacking {
		if l.symbols.MatchString(symbol) {
			return l.why
		}
	}
	return "not simulated"
}

// simabi_missing is called by every function that is not implemented.
//
//export simabi_missing
func simabi_missing(symbol *C.char) C.CUresult {
	driver.calls.Add(1)
	name := C.GoString(symbol)
	explain(fmt.Errorf("%s: %s (%d): %s", name, codeName(C.CUDA_ERROR_NOT_SUPPORTED), int(notSupported), why(name)))
	return C.CUDA_ERROR_NOT_SUPPORTED
}
