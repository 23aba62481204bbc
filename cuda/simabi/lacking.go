//go:build cuda

package simabi

// #include <cuda.h>
import "C"

import (
	"fmt"
	"regexp"
)

// lacking explains why functions are not implemented, by their symbols. The first
// match counts.
var lacking = []struct {
	symbols *regexp.Regexp
	why     string
}{
	{regexp.MustCompile(`^cu(GL|Graphics|EGL|VDPAU)`), "no graphics interface shares resources with the simulated GPU"},
	{regexp.MustCompile(`^cu(Import|Destroy|Signal|Wait)External|^cuExternalMemory|^cuGraph.*ExternalSemaphores`), "memory and semaphores of other interfaces cannot be imported; other processes open memory with cuIpcOpenMemHandle"},
	{regexp.MustCompile(`^cuIpc\w*Event`), "processes have no virtual time in common"},
	{regexp.MustCompile(`^cuMemPool(Ex|Im)port|^cuMemGetHandleForAddressRange|ShareableHandle`), "no descriptor stands for memory of the simulated GPU"},
	{regexp.MustCompile(`^cuDeviceGetNvSciSyncAttributes|^cuFlushGPUDirectRDMAWrites|^cuDeviceGetLuid`), "there is no such hardware or system"},
	{regexp.MustCompile(`GreenCtx|DevResource|^cuDevSmResource`), "multiprocessors are not divided among contexts"},
	{regexp.MustCompile(`^cuCoredump`), "a fault names kernel, thread and line instead"},
	{regexp.MustCompile(`^cuMulticast`), "the simulated GPUs have no multicast objects"},
	{regexp.MustCompile(`^cuTensorMap`), "kernels that use tensor maps are not simulated"},
	{regexp.MustCompile(`^cuMipmapped|Mipmap`), "textures have one level"},
	{regexp.MustCompile(`SparseProperties|MemoryRequirements|^cuArrayGetPlane|^cuMemMapArray`), "arrays are neither sparse nor planar"},
	{regexp.MustCompile(`^cuLaunchCooperativeKernelMultiDevice`), "removed from the GPUs that are simulated"},
	{regexp.MustCompile(`Cluster`), "there are no clusters of blocks"},
	{regexp.MustCompile(`AsyncNotification`), "the simulated GPU has nothing to notify of"},
	{regexp.MustCompile(`^cuGetExportTable`), "the interfaces between NVIDIA's own libraries are not public"},
	{regexp.MustCompile(`^cuLibraryGetUnifiedFunction`), "there are no unified functions"},
	{regexp.MustCompile(`^cuProfilerInitialize`), "there is no profiler to configure"},
	{regexp.MustCompile(`^cuMemGetAttribute`), "the function is not documented"},
	{regexp.MustCompile(`^cu(Array|Mem|Module|Device|TexRef)`), "this form is of releases before CUDA 3.2, with addresses and sizes of 32 bits: call the form that cuda.h declares"},
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
