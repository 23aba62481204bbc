// env: REPRISE_SIM_RACE=1
// A race is reported once, by the next call that waits, even if the resulting bytes are correct.
#include "check.h"

int main(void) {
	open_device();
	CUstream a, b;
	CUevent done;
	CUdeviceptr p;
	CHECK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
	CHECK(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
	CHECK(cuEventCreate(&done, CU_EVENT_DISABLE_TIMING));
	CHECK(cuMemAlloc(&p, 1024));

	CHECK(cuMemsetD32Async(p, 1, 256, a));
	CHECK(cuEventRecord(done, a));
	CHECK(cuStreamWaitEvent(b, done, 0));
	CHECK(cuMemsetD32Async(p, 2, 256, b));
	CHECK(cuStreamSynchronize(b));

	CHECK(cuMemsetD32Async(p, 1, 256, a));
	CHECK(cuMemsetD32Async(p, 2, 256, b));
	EXPECT(cuStreamSynchronize(b), CUDA_ERROR_UNKNOWN);
	CHECK(cuCtxSynchronize());
	return 0;
}
