// The end of a round of a loop that runs on the device, and what comes before a loop or a branch in a graph; make ptx
// makes until.ptx of it. It is a module of its own, since a driver from before CUDA 12.4 cannot link it.
//
// The next round waits for this one, so what most rounds do is to find that the loop goes on, and to count. They leave
// the condition at 1, with which a launch begins. All that they wait for is two loads, side by side.

// The toolkits from 12.4 on declare it in cuda_device_runtime_api.h.
extern "C" __device__ void cudaGraphSetConditional(unsigned long long handle, unsigned value);

// What a look at the scalar comes to, as numbers that the Go side knows, too.
enum finding { GO_ON, MET, NOT_A_NUMBER };

// state is that of a loop. The host sets the first three words, and the two that count again to change them.
struct __align__(16) state {
  unsigned left;   // rounds that are left to this launch
  unsigned most;   // rounds that a launch may run: left, between launches
  unsigned every;  // rounds to a check
  unsigned report; // four times the rounds of the launch that ended last, and the finding at their end
};

// end ends the loop with a round that has met its end or is the last of the launch, unless it is between checks.
static __device__ __forceinline__ void end(unsigned long long condition, state *at, state s, unsigned found) {
  const unsigned ran = s.most - s.left;
  if (s.left != 0 && s.every != 1 && ran % s.every != 0) return; // the last of a launch is a check
  cudaGraphSetConditional(condition, 0);
  *at = {s.most, s.most, s.every, ran << 2 | found};
}

// find compares a scalar. A loop goes on while it is from low to high; when high is no number, while it is a number other
// than low.
static __device__ __forceinline__ finding find(double x, double low, double high) {
  const bool within = x >= low && x <= high;
  return x != x ? NOT_A_NUMBER : within || (high != high && x != low) ? GO_ON : MET;
}

// count counts a round.
static __device__ __forceinline__ state count(state s, state *at) {
  at->left = --s.left;
  return s;
}

// compare ends a round in which the scalar is x. The loop goes on while that is from low to high; when high is no number,
// while it is a number other than low.
static __device__ __forceinline__ void compare(unsigned long long condition, double x, state *at, state s, double low, double high) {
  const bool within = x >= low && x <= high;
  if (__builtin_expect(within && s.left != 0, 1)) return;
  const finding found = x != x ? NOT_A_NUMBER : within || (high != high && x != low) ? GO_ON : MET;
  if (found != GO_ON || s.left == 0) end(condition, at, s, found);
}

// until_f32: ends a round, after which *p may be what the loop waits for.
// Launch: one thread.
extern "C" __global__ void until_f32(unsigned long long condition, const float *p, state *at, double low, double high) {
  const state before = *at; // before anything waits for the other load
  const double x = *p;
  compare(condition, x, at, count(before, at), low, high);
}

// until_f64: the same for a double.
extern "C" __global__ void until_f64(unsigned long long condition, const double *p, state *at, double low, double high) {
  const state before = *at; // as above
  const double x = *p;
  compare(condition, x, at, count(before, at), low, high);
}

// until_word: the same for an integer that the loop waits to be one of those from low to low + span, which may go
// round by zero. No double is computed with as quickly.
extern "C" __global__ void until_word(unsigned long long condition, const unsigned *p, state *at, unsigned low, unsigned span) {
  const state before = *at; // as above
  const unsigned x = *p;
  const state s = count(before, at);
  const bool met = x - low <= span;
  if (__builtin_expect(met || s.left == 0, 0)) end(condition, at, s, met ? MET : GO_ON);
}

// loop_begin: lets a loop that is in the body of another begin again.
// Launch: one thread.
extern "C" __global__ void loop_begin(unsigned long long condition) { cudaGraphSetConditional(condition, 1); }

// branch_f32: selects the first body of a branch if the scalar is what until_f32 would end a loop for.
// Launch: one thread.
extern "C" __global__ void branch_f32(unsigned long long condition, const float *p, double low, double high) {
  cudaGraphSetConditional(condition, find(*p, low, high) == MET);
}

// branch_f64: the same for a double.
extern "C" __global__ void branch_f64(unsigned long long condition, const double *p, double low, double high) {
  cudaGraphSetConditional(condition, find(*p, low, high) == MET);
}

// branch_word: the same for an integer, as until_word.
extern "C" __global__ void branch_word(unsigned long long condition, const unsigned *p, unsigned low, unsigned span) {
  cudaGraphSetConditional(condition, *p - low <= span);
}

// run is the state of segments that the device runs one after another until a flag stops them:
//
//   segments_begin ─► while { switch { segment 0 | segment 1 | … } ─► segments_advance }
struct __align__(16) run {
  unsigned cursor;  // the segment that is next; 0 between replays
  unsigned number;  // of launches that have begun
  unsigned replays; // that have ended, of all launches
  unsigned left;    // segments that the present launch has not ended
  unsigned flag;    // launches with this number or a smaller one stop. The host writes it while they run
};

// go sets the conditions: the loop goes on while segments are left, unless the flag stops launches with that number. Numbers
// may overflow.
static __device__ __forceinline__ void go(unsigned long long loop, unsigned long long select, const run *at, unsigned number, unsigned cursor, unsigned left) {
  const unsigned flag = *(const volatile unsigned *)&at->flag;
  cudaGraphSetConditional(select, cursor);
  cudaGraphSetConditional(loop, left != 0 && (int)(flag - number) < 0);
}

// segments_begin: begins a launch of some segments with that at the cursor.
// Launch: one thread.
extern "C" __global__ void segments_begin(unsigned long long loop, unsigned long long select, run *at, unsigned left) {
  const unsigned number = at->number + 1;
  at->number = number;
  at->left = left;
  go(loop, select, at, number, at->cursor, left);
}

// segments_advance: ends one of count segments.
// Launch: one thread.
extern "C" __global__ void segments_advance(unsigned long long loop, unsigned long long select, run *at, unsigned count) {
  unsigned cursor = at->cursor + 1;
  const unsigned left = at->left - 1;
  if (cursor == count) {
    cursor = 0;
    at->replays++;
  }
  at->cursor = cursor;
  at->left = left;
  go(loop, select, at, at->number, cursor, left);
}
