// libreprise-mpi.so: what package mpi needs of MPI. mpicc builds it, so that Reprise itself depends on no MPI.
#define _GNU_SOURCE
#include "shim.h"

#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static MPI_Comm comm = MPI_COMM_NULL; // our own, so that messages of the host program are not confused with ours
static MPI_Request gathering = MPI_REQUEST_NULL;
static int any_thread;
static int crowded; // there are more ranks on this machine than cores
static __thread int initialised_here;

struct exchange {
    int count;
    MPI_Request requests[];
};

#define THREAD                                                                                                         \
    if (!any_thread && !initialised_here)                                                                              \
        return REPRISE_MPI_THREAD;
#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        int failed = (call);                                                                                           \
        if (failed != MPI_SUCCESS)                                                                                     \
            return -1 - failed;                                                                                        \
    } while (0)

int reprise_mpi_version(void) { return REPRISE_MPI_VERSION; }

static int initialise(int level, int *provided) {
    struct reprise_mpi_handlers handlers;
    reprise_mpi_save(&handlers);
    setenv("OMPI_MCA_mpi_yield_when_idle", "0", 0); // see cede
    int failed = MPI_Init_thread(NULL, NULL, level, provided);
    reprise_mpi_restore(&handlers);
    return failed;
}

int reprise_mpi_hosted(void) {
    int initialized;
    TRY(MPI_Initialized(&initialized));
    return initialized;
}

static int count_neighbours(void) {
    MPI_Comm neighbours;
    int count;
    TRY(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &neighbours));
    TRY(MPI_Comm_size(neighbours, &count));
    TRY(MPI_Comm_free(&neighbours));
    crowded = count > sysconf(_SC_NPROCESSORS_ONLN);
    return 0;
}

int reprise_mpi_open(int funneled, int handle, struct reprise_mpi_world *world) {
    int finalized, provided, is_main, set, *last_tag, hosted = reprise_mpi_hosted();
    TRY(MPI_Finalized(&finalized));
    if (finalized)
        return REPRISE_MPI_FINALIZED;
    if (hosted) {
        TRY(MPI_Query_thread(&provided));
        TRY(MPI_Is_thread_main(&is_main));
        initialised_here = is_main;
    } else {
        TRY(initialise(funneled ? MPI_THREAD_FUNNELED : MPI_THREAD_SERIALIZED, &provided));
        initialised_here = 1;
    }
    world->any_thread = any_thread = provided >= MPI_THREAD_SERIALIZED && !funneled;
    THREAD
    TRY(MPI_Comm_dup(handle == 0 ? MPI_COMM_WORLD : MPI_Comm_f2c(handle), &comm));
    TRY(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    TRY(MPI_Comm_rank(comm, &world->rank));
    TRY(MPI_Comm_size(comm, &world->size));
    TRY(MPI_Comm_get_attr(comm, MPI_TAG_UB, &last_tag, &set));
    world->last_tag = set ? *last_tag : 32767;
    return count_neighbours();
}

int reprise_mpi_finish(int finalize) {
    THREAD
    if (comm != MPI_COMM_NULL)
        TRY(MPI_Comm_free(&comm));
    if (finalize)
        TRY(MPI_Finalize());
    return 0;
}

void reprise_mpi_error(int result, char *text, int size) {
    char of_mpi[MPI_MAX_ERROR_STRING] = "";
    int length;
    if (result == REPRISE_MPI_THREAD)
        snprintf(text, size, "MPI was initialised by another thread, without MPI_THREAD_SERIALIZED");
    else if (result == REPRISE_MPI_FINALIZED)
        snprintf(text, size, "MPI was finalised before, and cannot be initialised twice");
    else if (MPI_Error_string(-1 - result, of_mpi, &length) == MPI_SUCCESS)
        snprintf(text, size, "%s", of_mpi);
    else
        snprintf(text, size, "error %d of MPI", -1 - result);
}

int reprise_mpi_gather(const void *mine, int size, void *all) {
    THREAD
    TRY(MPI_Iallgather(mine, size, MPI_BYTE, all, size, MPI_BYTE, comm, &gathering));
    return 0;
}

int reprise_mpi_gatherv(const void *mine, int size, void *all, const int *sizes, const int *offsets) {
    THREAD
    TRY(MPI_Iallgatherv(mine, size, MPI_BYTE, all, sizes, offsets, MPI_BYTE, comm, &gathering));
    return 0;
}

// bytes_type creates a type of size bytes, of which one is sent: counts of MPI are int.
static int bytes_type(int64_t size, MPI_Datatype *type) {
    const int block = 1 << 30;
    MPI_Datatype blocks;
    TRY(MPI_Type_contiguous(block, MPI_BYTE, &blocks));
    int counts[2] = {(int)(size / block), (int)(size % block)};
    MPI_Aint offsets[2] = {0, (MPI_Aint)(size - size % block)};
    MPI_Datatype types[2] = {blocks, MPI_BYTE};
    TRY(MPI_Type_create_struct(2, counts, offsets, types, type));
    TRY(MPI_Type_free(&blocks));
    TRY(MPI_Type_commit(type));
    return 0;
}

static int prepare(const struct reprise_mpi_message *m, MPI_Request *request) {
    MPI_Datatype type = MPI_BYTE;
    int count = (int)m->size, large = m->size > INT32_MAX;
    if (large) {
        int failed = bytes_type(m->size, &type);
        if (failed < 0)
            return failed;
        count = 1;
    }
    if (m->send)
        TRY(MPI_Send_init(m->bytes, count, type, m->peer, m->tag, comm, request));
    else
        TRY(MPI_Recv_init(m->bytes, count, type, m->peer, m->tag, comm, request));
    if (large)
        TRY(MPI_Type_free(&type));
    return 0;
}

int reprise_mpi_freeze(const struct reprise_mpi_message *messages, int count, void **exchange) {
    THREAD
    struct exchange *e = malloc(sizeof *e + count * sizeof e->requests[0]);
    if (e == NULL)
        return -1 - MPI_ERR_NO_MEM;
    e->count = count;
    *exchange = e;
    for (int i = 0; i < count; i++) {
        int failed = prepare(&messages[i], &e->requests[i]);
        if (failed < 0)
            return failed;
    }
    return 0;
}

int reprise_mpi_start(void *exchange) {
    THREAD
    struct exchange *e = exchange;
    TRY(MPI_Startall(e->count, e->requests));
    return 0;
}

static int64_t microseconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

static int poll(struct exchange *e, int *done) {
    if (e == NULL)
        TRY(MPI_Test(&gathering, done, MPI_STATUS_IGNORE));
    else
        TRY(MPI_Testall(e->count, e->requests, done, MPI_STATUSES_IGNORE));
    return *done;
}

// cede lets other ranks on the same core run. With sched_yield, ranks that all wait alternate in a few microseconds. If
// processes run that do not wait, recent schedulers of Linux let each of them run for milliseconds. For some time after
// that, cede sleeps instead, which takes about 50 us.
static void cede(int64_t now) {
    enum { SLOW = 500, TIME = 100 * 1000 };
    static int64_t sleep_until;
    if (now < sleep_until) {
        nanosleep(&(struct timespec){.tv_nsec = 1}, NULL);
        return;
    }
    sched_yield();
    if (microseconds() - now > SLOW)
        sleep_until = now + TIME;
}

// reprise_mpi_test polls. If every rank of this machine has a core, it spins. Otherwise it cedes the core between polls.
// It returns after a millisecond, so that the caller can check other things.
int reprise_mpi_test(void *exchange, int polls) {
    THREAD
    enum { UNTIMED = 32, LIMIT = 1000 };
    int64_t began = 0, now = 0;
    for (int i = 0; i < polls && now - began < LIMIT; i++) {
        int done, result = poll(exchange, &done);
        if (result != 0)
            return result;
        if (i < UNTIMED)
            continue;
        now = microseconds();
        if (began == 0)
            began = now;
        if (crowded)
            cede(now);
    }
    return 0;
}

int reprise_mpi_run(void *exchange, int polls) {
    int failed = reprise_mpi_start(exchange);
    return failed < 0 ? failed : reprise_mpi_test(exchange, polls);
}

int reprise_mpi_pending(void *exchange, char *flags) {
    THREAD
    struct exchange *e = exchange;
    for (int i = 0; i < e->count; i++) {
        int done;
        TRY(MPI_Request_get_status(e->requests[i], &done, MPI_STATUS_IGNORE));
        flags[i] = !done;
    }
    return 0;
}

int reprise_mpi_release(void *exchange) {
    THREAD
    struct exchange *e = exchange;
    for (int i = 0; i < e->count; i++)
        TRY(MPI_Request_free(&e->requests[i]));
    free(e);
    return 0;
}
