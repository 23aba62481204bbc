// Package mpi connects ranks that are processes through MPI. A C library of its own, libreprise-mpi.so in folder shim,
// calls MPI; make mpi builds it. It is loaded when Open is called, from the folder of the program or from the path in
// REPRISE_MPI. The program itself needs no MPI, neither to build nor to start.
//
// Messages are persistent requests. A run is one call of C that starts all and polls until they are complete. It returns
// to Go after a millisecond, so that contexts, lost ranks and the watchdog are checked while a rank waits.
//
// MPI reports a lost rank late or never. Beside MPI, each rank therefore has a TCP connection to rank 0, on which both
// give signs of life. A process that ends closes its connection; rank 0 forwards this to all others. mpirun ends all
// processes a second after one was killed, so they have that second to report which rank was lost.
package mpi
