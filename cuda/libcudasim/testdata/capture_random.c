// Random programs of streams and events must leave the same bytes whether they run directly
// or are captured, instantiated and launched.
#include "check.h"

// mix stores 31 * *a + *b + c.
static const char *ptx =
	".version 7.0\n.target sm_52\n.address_size 64\n"
	".visible .entry mix(.param .u64 to, .param .u64 a, .param .u64 b, .param .u32 c) {\n"
	" .reg .b32 %r<3>; .reg .b64 %d<3>;\n"
	" ld.param.u64 %d0, [to]; ld.param.u64 %d1, [a]; ld.param.u64 %d2, [b]; ld.param.u32 %r0, [c];\n"
	" ld.global.u32 %r1, [%d1]; ld.global.u32 %r2, [%d2];\n"
	" mad.lo.u32 %r1, %r1, 31, %r2; add.u32 %r1, %r1, %r0; st.global.u32 [%d0], %r1; ret;\n}\n";

enum { STREAMS = 4, EVENTS = 3, WORDS = 6, OPS = 60, PROGRAMS = 60 };

static CUfunction mix;
static CUdeviceptr words;
static CUstream streams[STREAMS];
static CUevent events[EVENTS], fork, joined[STREAMS];

static uint64_t seed;

static unsigned pick(unsigned n) {
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % n;
}

// The predecessors of a stream or an event, and the operations that have accessed a word, are sets of
// operations. Unordered accesses to a word are not generated, because their result is undefined.
static uint64_t after[STREAMS], mark[EVENTS], writer[WORDS], readers[WORDS];

static int may_read(int s, int w) { return (writer[w] & ~after[s]) == 0; }
static int may_write(int s, int w) { return ((writer[w] | readers[w]) & ~after[s]) == 0; }

static void work(int op) {
	int s = pick(STREAMS), to = pick(WORDS), a = pick(WORDS), b = pick(WORDS), kind = pick(4);
	unsigned c = pick(1000);
	uint64_t bit = 1ull << op;
	CUdeviceptr at[3] = {words + 4 * to, words + 4 * a, words + 4 * b};
	void *args[] = {&at[0], &at[1], &at[2], &c};
	if (!may_write(s, to) || !may_read(s, a) || !may_read(s, b))
		return;
	switch (kind) {
	case 0:
		CHECK(cuMemsetD32Async(at[0], c, 1, streams[s]));
		break;
	case 1:
		if (a == to)
			return;
		CHECK(cuMemcpyDtoDAsync(at[0], at[1], 4, streams[s]));
		readers[a] |= bit;
		break;
	default:
		CHECK(cuLaunchKernel(mix, 1, 1, 1, 1, 1, 1, 0, streams[s], args, NULL));
		readers[a] |= bit;
		readers[b] |= bit;
	}
	writer[to] = bit;
	readers[to] = 0;
	after[s] |= bit;
}

// program runs, or is captured, in streams that fork from the first and join it again.
static void program(uint64_t number) {
	seed = number;
	memset(after, 0, sizeof after);
	memset(writer, 0, sizeof writer);
	memset(readers, 0, sizeof readers);
	CHECK(cuEventRecord(fork, streams[0]));
	for (int s = 1; s < STREAMS; s++)
		CHECK(cuStreamWaitEvent(streams[s], fork, 0));
	for (int e = 0; e < EVENTS; e++) {
		mark[e] = 0;
		CHECK(cuEventRecord(events[e], streams[0]));
	}
	for (int op = 0; op < OPS; op++) {
		int s = pick(STREAMS), e = pick(EVENTS);
		switch (pick(4)) {
		case 0:
			mark[e] = after[s];
			CHECK(cuEventRecord(events[e], streams[s]));
			break;
		case 1:
			after[s] |= mark[e];
			CHECK(cuStreamWaitEvent(streams[s], events[e], 0));
			break;
		default:
			work(op);
		}
	}
	for (int s = 1; s < STREAMS; s++) {
		CHECK(cuEventRecord(joined[s], streams[s]));
		CHECK(cuStreamWaitEvent(streams[0], joined[s], 0));
	}
}

static void reset(void) {
	unsigned v[WORDS];
	for (int i = 0; i < WORDS; i++)
		v[i] = 1000 + i;
	CHECK(cuMemcpyHtoD(words, v, sizeof v));
}

static void result(unsigned *v) {
	CHECK(cuStreamSynchronize(streams[0]));
	CHECK(cuMemcpyDtoH(v, words, WORDS * sizeof *v));
}

int main(void) {
	CUmodule module;
	open_device();
	CHECK(cuModuleLoadData(&module, ptx));
	CHECK(cuModuleGetFunction(&mix, module, "mix"));
	CHECK(cuMemAlloc(&words, 4 * WORDS));
	CHECK(cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
	for (int s = 0; s < STREAMS; s++) {
		CHECK(cuStreamCreate(&streams[s], s % 2 ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT));
		CHECK(cuEventCreate(&joined[s], CU_EVENT_DISABLE_TIMING));
	}
	for (int e = 0; e < EVENTS; e++)
		CHECK(cuEventCreate(&events[e], CU_EVENT_DISABLE_TIMING));
	size_t nodes = 0;
	for (uint64_t n = 1; n <= PROGRAMS; n++) {
		unsigned eager[WORDS], replayed[WORDS];
		CUgraph g;
		CUgraphExec x;
		size_t count;
		reset();
		program(n);
		program(n);
		result(eager);

		reset();
		CHECK(cuStreamBeginCapture(streams[0], CU_STREAM_CAPTURE_MODE_GLOBAL));
		program(n);
		CHECK(cuStreamEndCapture(streams[0], &g));
		CHECK(cuGraphGetNodes(g, NULL, &count));
		nodes += count;
		CHECK(cuGraphInstantiate(&x, g, 0));
		CHECK(cuGraphLaunch(x, streams[0]));
		CHECK(cuGraphLaunch(x, streams[0]));
		result(replayed);
		if (memcmp(eager, replayed, sizeof eager) != 0)
			check_fail(__FILE__, __LINE__, "program %d leaves other bytes as a graph", (int)n);
		CHECK(cuGraphExecDestroy(x));
		CHECK(cuGraphDestroy(g));
	}
	TRUE(nodes > 5 * PROGRAMS); // the programs are not trivial
	return 0;
}
