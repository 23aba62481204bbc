package mpi

// SetMaxGather sets the largest number of bytes that one gather of MPI returns, the same on all ranks.
func SetMaxGather(bytes int) { maxGather = bytes }
