// The end of a round of a loop that runs on the device; make ptx makes until.ptx of it. It
// is a module of its own, since a driver from before CUDA 12.4 cannot link it.

// The toolkits from 12.4 on declare it in cuda_device_runtime_api.h.
extern "C" __device__ void cudaGraphSetConditional(unsigned long long handle, unsigned value);

// Numbers that the Go side knows, too: of the bits of a Comparison, of a finding.
enum comparison { BELOW = 1, EQUAL = 2, ABOVE = 4 };
enum finding { GO_ON, MET, NOT_A_NUMBER };

struct __align__(16) state {
  unsigned rounds; // of this launch, 0 between launches
  unsigned most;   // rounds that a launch may run, set by the host
  unsigned ran;    // rounds of the launch that ended last
  unsigned found;  // at the end of the last of them
};

// end counts a round that came to a finding, if it is one of every so many, and has the loop go on
// unless that ends it or the launch has had its rounds.
static __device__ void end(unsigned long long condition, unsigned found, uint2 counts, state *s, unsigned every) {
  const unsigned rounds = counts.x + 1, most = counts.y;
  if (__builtin_expect(every != 1, 0)) // or else a division in every round, which the next one waits for
    if (rounds % every != 0) found = GO_ON;
  const bool on = found == GO_ON && rounds < most;
  cudaGraphSetConditional(condition, on);
  *(uint4 *)s = make_uint4(on ? rounds : 0, most, rounds, found);
}

// found is what a number comes to that is to compare to value as one of the bits of `is` says.
static __device__ unsigned found(double x, double value, unsigned is) {
  if (x != x) return NOT_A_NUMBER;
  unsigned how = x < value ? BELOW : x == value ? EQUAL : ABOVE;
  return (how & is) != 0 ? MET : GO_ON;
}

// until_f32: ends a round, after which *p may be what the loop waits for.
// Launch: one thread.
extern "C" __global__ void until_f32(unsigned long long condition, const float *p, state *s, unsigned every, double value, unsigned is) {
  const uint2 counts = *(const uint2 *)s; // before anything waits for the other load
  const double x = *p;
  end(condition, found(x, value, is), counts, s, every);
}

// until_f64: the same for a double.
extern "C" __global__ void until_f64(unsigned long long condition, const double *p, state *s, unsigned every, double value, unsigned is) {
  const uint2 counts = *(const uint2 *)s; // before anything waits for the other load
  const double x = *p;
  end(condition, found(x, value, is), counts, s, every);
}

// until_word: the same for an integer that is to be one of those from low to low + span, or none of these
// when inside is 0. The next round waits for it, and no double is computed with as quickly.
extern "C" __global__ void until_word(unsigned long long condition, const unsigned *p, state *s, unsigned every, unsigned low, unsigned span, unsigned inside) {
  const uint2 counts = *(const uint2 *)s; // as above
  const unsigned x = *p;
  end(condition, (x - low <= span) == (inside != 0) ? MET : GO_ON, counts, s, every);
}
