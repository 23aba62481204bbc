// Builds and runs the random graph of a seed, and prints the virtual time after each step
// and what was computed. times_test.go does the same without the driver's interface.
#include "../check.h"

#include <reprise.h>

enum { WORDS = 300, BUFFERS = 4 };

static uint64_t state;

// draw returns a random number below n, by Knuth's linear congruential generator.
static uint32_t draw(uint32_t n) {
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33) % n;
}

static void tell(const char *what, uint64_t start) { printf("%s %llu\n", what, (unsigned long long)(repriseNow() - start)); }

int main(int argc, char **argv) {
	static char ptx[1 << 20];
	FILE *f = fopen(argv[1], "r");
	TRUE(argc == 3 && f != NULL);
	ptx[fread(ptx, 1, sizeof ptx - 1, f)] = 0;
	fclose(f);
	state = strtoull(argv[2], NULL, 10);
	CUcontext context = open_device();
	CUmodule module;
	CUfunction affine;
	CUstream stream;
	CUdeviceptr buffer[BUFFERS];
	CHECK(cuModuleLoadData(&module, ptx));
	CHECK(cuModuleGetFunction(&affine, module, "affine"));
	CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	for (int i = 0; i < BUFFERS; i++) {
		CHECK(cuMemAlloc(&buffer[i], 4 * WORDS));
		CHECK(cuMemcpyHtoD(buffer[i], (uint32_t[WORDS]){i + 1}, 4 * WORDS));
	}

	uint64_t start = repriseNow();
	CUgraph graph;
	CUgraphNode nodes[32], last = NULL;
	CHECK(cuGraphCreate(&graph, 0));
	tell("create", start);
	uint32_t count = 2 + draw(20), a, b, n = WORDS;
	CUdeviceptr to, from;
	void *args[] = {&to, &from, &a, &b, &n};
	CUDA_KERNEL_NODE_PARAMS kernel = {.func = affine, .gridDimX = 5, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 64, .blockDimY = 1, .blockDimZ = 1, .kernelParams = args};
	for (uint32_t i = 0; i < count; i++) {
		CUgraphNode deps[32];
		size_t before = 0;
		for (uint32_t k = 0; k < i; k++)
			if (k + 1 == i || draw(4) == 0) // a chain and more, so that what is computed does not race
				deps[before++] = nodes[k];
		to = buffer[draw(BUFFERS)];
		from = buffer[draw(BUFFERS)];
		a = draw(5);
		b = draw(5);
		switch (draw(5)) {
		case 0: {
			CUDA_MEMSET_NODE_PARAMS fill = {.dst = to, .value = a, .elementSize = 4, .width = WORDS, .height = 1};
			CHECK(cuGraphAddMemsetNode(&nodes[i], graph, deps, before, &fill, context));
			break;
		}
		case 1: {
			CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = from, .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = to,
				.WidthInBytes = 4 * WORDS, .Height = 1, .Depth = 1};
			CHECK(cuGraphAddMemcpyNode(&nodes[i], graph, deps, before, &copy, context));
			break;
		}
		case 2:
			CHECK(cuGraphAddEmptyNode(&nodes[i], graph, deps, before));
			break;
		default:
			CHECK(cuGraphAddKernelNode(&nodes[i], graph, deps, before, &kernel));
			last = nodes[i];
		}
	}
	tell("add", start);
	CUgraphExec exec;
	CHECK(cuGraphInstantiate(&exec, graph, 0));
	tell("instantiate", start);
	for (int i = 0; i < 3; i++)
		CHECK(cuGraphLaunch(exec, stream));
	tell("launch", start);
	CHECK(cuStreamSynchronize(stream));
	tell("synchronize", start);
	if (last != NULL) {
		to = buffer[0];
		from = buffer[1];
		a = 2;
		b = 3;
		CHECK(cuGraphExecKernelNodeSetParams(exec, last, &kernel));
		tell("update", start);
		CHECK(cuGraphLaunch(exec, stream));
		CHECK(cuStreamSynchronize(stream));
		tell("again", start);
	}
	CHECK(cuGraphExecDestroy(exec));
	CHECK(cuGraphDestroy(graph));
	tell("destroy", start);
	for (int i = 0; i < BUFFERS; i++) {
		uint32_t out[WORDS], sum = 0;
		CHECK(cuMemcpyDtoH(out, buffer[i], sizeof out));
		for (int k = 0; k < WORDS; k++)
			sum = sum * 31 + out[k];
		printf("buffer %d: %u\n", i, sum);
	}
	return 0;
}
