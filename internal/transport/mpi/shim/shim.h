// The functions of libreprise-mpi.so, without types of MPI: a program that loads the library at run time needs no mpi.h.
// A function returns 0 or more if it succeeds. Otherwise the result is one of the codes below, or -1-E for the error E
// of MPI.
#ifndef REPRISE_MPI_SHIM_H
#define REPRISE_MPI_SHIM_H

#include <signal.h>
#include <stdint.h>

#define REPRISE_MPI_VERSION 1 // of these functions

enum {
    REPRISE_MPI_THREAD = -1000001,   // only the thread that initialised MPI may call it
    REPRISE_MPI_FINALIZED = -1000002 // MPI was finalised before
};

struct reprise_mpi_world {
    int rank, size;
    int any_thread;   // every thread may call MPI, one at a time
    int64_t last_tag; // the largest tag
};

struct reprise_mpi_message {
    void *bytes;
    int64_t size;
    int32_t peer, tag, send;
};

#define REPRISE_MPI_FUNCTIONS(F)                                                                                     \
    F(int, version, (void))                                                                                          \
    F(int, hosted, (void)) /* whether the host program has initialised MPI */                                        \
    /* open initialises MPI, unless the host program has. comm is a Fortran handle of a communicator, 0 for all. */  \
    F(int, open, (int funneled, int comm, struct reprise_mpi_world *world))                                          \
    /* finish finalises MPI if finalize is set. */                                                                   \
    F(int, finish, (int finalize))                                                                                   \
    /* error writes the text of a result below 0. */                                                                 \
    F(void, error, (int result, char *text, int size))                                                               \
    /* gather starts a gather of size bytes of each rank. gatherv has sizes and offsets by rank. */                  \
    F(int, gather, (const void *mine, int size, void *all))                                                          \
    F(int, gatherv, (const void *mine, int size, void *all, const int *sizes, const int *offsets))                   \
    /* freeze makes an exchange. */                                                                                  \
    F(int, freeze, (const struct reprise_mpi_message *messages, int count, void **exchange))                         \
    F(int, start, (void *exchange))                                                                                  \
    /* test polls for some time; 1 if the exchange has ended, or the gather for NULL. run is start and test. */      \
    F(int, test, (void *exchange, int polls))                                                                        \
    F(int, run, (void *exchange, int polls))                                                                         \
    /* pending writes 1 for each message that is not complete, else 0. */                                            \
    F(int, pending, (void *exchange, char *flags))                                                                   \
    F(int, release, (void *exchange))

// The handlers of all signals. Libraries below MPI install handlers for faults when they are loaded and when MPI is
// initialised, but the Go runtime needs its own.
struct reprise_mpi_handlers {
    struct sigaction handlers[NSIG];
    char valid[NSIG];
};

static inline void reprise_mpi_save(struct reprise_mpi_handlers *h) {
    for (int s = 1; s < NSIG; s++)
        h->valid[s] = sigaction(s, NULL, &h->handlers[s]) == 0;
}

static inline void reprise_mpi_restore(const struct reprise_mpi_handlers *h) {
    for (int s = 1; s < NSIG; s++)
        if (h->valid[s])
            sigaction(s, &h->handlers[s], NULL);
}

#define REPRISE_MPI_DECLARE(result, name, parameters) result reprise_mpi_##name parameters;
REPRISE_MPI_FUNCTIONS(REPRISE_MPI_DECLARE)

#endif
