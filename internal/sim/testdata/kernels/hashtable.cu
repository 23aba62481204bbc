// A hash table with open addressing: a slot is claimed by compare-and-swap.

#define EMPTY 0xffffffffu

__device__ unsigned mix(unsigned k)
{
    k ^= k >> 16;
    k *= 0x85ebca6bu;
    k ^= k >> 13;
    k *= 0xc2b2ae35u;
    return k ^ (k >> 16);
}

// Counts each key; mask is the number of slots less one. failed counts what found no slot.
extern "C" __global__ void insert(const unsigned *keys, unsigned *slots, unsigned *counts, unsigned *failed, unsigned mask, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const unsigned key = keys[i];
    unsigned slot = mix(key) & mask;
    for (unsigned probe = 0; probe <= mask; ++probe) {
        const unsigned was = atomicCAS(&slots[slot], EMPTY, key);
        if (was == EMPTY || was == key) {
            atomicAdd(&counts[slot], 1u);
            return;
        }
        slot = (slot + 1) & mask;
    }
    atomicAdd(failed, 1u);
}

extern "C" __global__ void lookup(const unsigned *keys, const unsigned *slots, const unsigned *counts, unsigned *found, unsigned mask, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned slot = mix(keys[i]) & mask, count = 0;
        for (unsigned probe = 0; probe <= mask; ++probe, slot = (slot + 1) & mask) {
            const unsigned k = slots[slot];
            if (k == keys[i])
                count = counts[slot];
            if (k == keys[i] || k == EMPTY)
                break;
        }
        found[i] = count;
    }
}

// Key and value in one 64-bit word, the larger value wins.
extern "C" __global__ void insert_pairs(const uint2 *pairs, unsigned long long *slots, unsigned mask, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const uint2 p = pairs[i];
    const unsigned long long mine = ((unsigned long long)p.x << 32) | p.y;
    for (unsigned slot = mix(p.x) & mask;; slot = (slot + 1) & mask) {
        unsigned long long seen = slots[slot];
        while (seen == ~0ull || (unsigned)(seen >> 32) == p.x) {
            if (seen != ~0ull && (unsigned)seen >= p.y)
                return;
            const unsigned long long was = atomicCAS(&slots[slot], seen, mine);
            if (was == seen)
                return;
            seen = was;
        }
    }
}
