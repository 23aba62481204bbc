// A host program that initialises MPI with MPI_THREAD_FUNNELED, as a library that is loaded before the program.
#include <mpi.h>

__attribute__((constructor)) static void initialise(void) {
    int provided;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
}
