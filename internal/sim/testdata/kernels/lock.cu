// Mutual exclusion: between lanes of a warp, which need each other's progress, and between
// warps and blocks.
// build sm60: -arch=compute_60
// build sm90: -arch=compute_90

struct Account {
    int lock;
    unsigned count;
    long long sum;
};

// The loop that programmers learn to write: the critical section is inside the branch.
extern "C" __global__ void lock_inside(Account *a, const int *x, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    for (bool done = false; !done;) {
        if (atomicCAS(&a->lock, 0, 1) == 0) {
            __threadfence();
            volatile Account *v = a;
            v->count += 1;
            v->sum += x[i];
            __threadfence();
            atomicExch(&a->lock, 0);
            done = true;
        }
    }
}

// The loop that they write first: lanes spin until the one that holds the lock has left,
// which it can only since compute capability 7.0.
extern "C" __global__ void lock_spin(Account *a, const int *x, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    while (atomicCAS(&a->lock, 0, 1) != 0)
        ;
    __threadfence();
    volatile Account *v = a;
    v->count += 1;
    v->sum += x[i];
    __threadfence();
    atomicExch(&a->lock, 0);
}

// A ticket lock in shared memory: strictly in order, so every waiter polls.
extern "C" __global__ void lock_ticket(unsigned *order)
{
    __shared__ unsigned next;
    __shared__ volatile unsigned serving;
    if (threadIdx.x == 0)
        next = serving = 0;
    __syncthreads();
    const unsigned ticket = atomicAdd(&next, 1u);
    while (serving != ticket)
        ;
    order[blockIdx.x * blockDim.x + ticket] = threadIdx.x;
    __threadfence_block();
    serving = ticket + 1;
}

// Lane 0 produces, the other lanes of its warp wait for it in a loop of their own.
extern "C" __global__ void flag_in_warp(volatile int *flag, volatile int *box, int *out)
{
    const int lane = threadIdx.x;
    if (lane == 0) {
        *box = 42;
        __threadfence();
        *flag = 1;
    } else {
        while (*flag == 0)
            ;
        __threadfence();
        out[lane] = *box + lane;
    }
}

// A lock per bucket, held while a node is pushed on the bucket's list.
struct Node {
    int value;
    int next;
};

extern "C" __global__ void push(Node *nodes, int *heads, int *locks, const int *values, int n, int buckets)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const int b = values[i] % buckets;
    nodes[i].value = values[i];
    bool waiting = true;
    while (waiting) {
        if (atomicExch(&locks[b], 1) == 0) {
            nodes[i].next = atomicExch(&heads[b], i);
            __threadfence();
            atomicExch(&locks[b], 0);
            waiting = false;
        }
    }
}
