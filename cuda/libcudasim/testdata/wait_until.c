// repriseWaitUntil advances the host's clock. Work of the device that ends before is complete then.
#include "check.h"

#include <reprise.h>

enum { BYTES = 64 << 20, MILLISECOND = 1000000 };

int main(void) {
	CUstream s;
	CUdeviceptr p;
	repriseWaitUntil(MILLISECOND); // before cuInit there is no clock
	EQ(repriseNow(), 0);
	open_device();
	CHECK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	CHECK(cuMemAlloc(&p, BYTES));
	CHECK(cuMemsetD32Async(p, 1, BYTES / 4, s));
	EXPECT(cuStreamQuery(s), CUDA_ERROR_NOT_READY);

	uint64_t before = repriseNow(), calls = repriseCalls();
	repriseWaitUntil(before + MILLISECOND);
	EQ(repriseNow(), before + MILLISECOND);
	repriseWaitUntil(before); // has passed
	EQ(repriseNow(), before + MILLISECOND);
	EQ(repriseCalls(), calls);
	CHECK(cuStreamQuery(s));
	repriseWaitUntil(UINT64_MAX); // the end of virtual time
	TRUE(repriseNow() > before + MILLISECOND);
	return 0;
}
