// The end of a round of a loop that runs on the device; make ptx makes until.ptx of it. It
// is a module of its own, since a driver from before CUDA 12.4 cannot link it.

// The toolkits from 12.4 on declare it in cuda_device_runtime_api.h.
extern "C" __device__ void cudaGraphSetConditional(unsigned long long handle, unsigned value);

// Numbers that the Go side knows, too: of types, of the bits of a Comparison, of a finding.
enum type { F32, F64, I32, U32 };
enum comparison { BELOW = 1, EQUAL = 2, ABOVE = 4 };
enum finding { GO_ON, MET, NOT_A_NUMBER };

struct state {
  unsigned rounds; // of this launch, 0 between launches
  unsigned most;   // rounds that a launch may run, set by the host
  unsigned ran;    // rounds of the launch that ended last
  unsigned found;  // at the end of the last of them
};

// Every type it takes fits a double.
static __device__ double load(const void *p, unsigned type) {
  switch (type) {
  case F32:
    return *(const float *)p;
  case F64:
    return *(const double *)p;
  case I32:
    return *(const int *)p;
  }
  return *(const unsigned *)p;
}

// until: counts a round, and has the loop go on unless *p compares to value as one of the
// bits of `is` says, is not a number, or the launch has had its rounds.
// Launch: one thread.
extern "C" __global__ void until(unsigned long long condition, const void *p, double value, state *s, unsigned type, unsigned is) {
  double x = load(p, type);
  unsigned how = x < value ? BELOW : x == value ? EQUAL : ABOVE;
  unsigned found = x != x ? NOT_A_NUMBER : (how & is) != 0 ? MET : GO_ON;
  unsigned rounds = s->rounds + 1;
  bool on = found == GO_ON && rounds < s->most;
  s->rounds = on ? rounds : 0;
  s->ran = rounds;
  s->found = found;
  cudaGraphSetConditional(condition, on);
}
