package contract

// MaxHostAlloc is the maximum size of one allocation of pinned memory, in bytes. On every device of this module a
// larger request fails with OutOfMemory.
const MaxHostAlloc = 64 << 30
