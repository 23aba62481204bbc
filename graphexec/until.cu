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

static __device__ unsigned look(double x, double value, unsigned is) {
  if (x != x) return NOT_A_NUMBER;
  unsigned how = x < value ? BELOW : x == value ? EQUAL : ABOVE;
  return (how & is) != 0 ? MET : GO_ON;
}

// until: counts a round, and has the loop go on unless the launch has had its rounds, or it is
// one of every so many and *p compares to value as one of the bits of `is` says, or is no number.
// Launch: one thread.
extern "C" __global__ void until(unsigned long long condition, const void *p, double value, state *s, unsigned type, unsigned is, unsigned every) {
  unsigned rounds = s->rounds + 1;
  unsigned found = rounds % every == 0 ? look(load(p, type), value, is) : GO_ON;
  bool on = found == GO_ON && rounds < s->most;
  s->rounds = on ? rounds : 0;
  s->ran = rounds;
  s->found = found;
  cudaGraphSetConditional(condition, on);
}
