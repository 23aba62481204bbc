//go:build ignore

#define _GNU_SOURCE // RTLD_DI_LINKMAP
#include "lazycuda.h"
#include "reprise.h"
#include "resolve.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

// What answers: a simulator's lookup, an open library, or neither. Chosen once, at the first call.
static void *(*simulator)(const char *symbol);
static void *library;
static const char *provider = "";
static char problem[512];

// A constructor of this program that calls before simabi's would choose without it, so what the
// constructor leaves is kept apart from what was chosen.
static void *(*offered)(const char *symbol);

void lazycuda_provide_sim(void *(*lookup)(const char *symbol)) {
    offered = lookup;
}

static void choose_simulator(void) {
    if (offered == NULL) {
        snprintf(problem, sizeof problem, "REPRISE_LIBCUDA=sim, but this program has no simulator in it: "
            "import cuda/simabi, or name libcudasim.so by its path");
        return;
    }
    simulator = offered;
    provider = "sim";
}

static void choose_library(const char *path) {
    void *opened = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (opened == NULL) {
        snprintf(problem, sizeof problem, "%s", dlerror());
        return;
    }
    if (dlsym(opened, "cuInit") == NULL) {
        snprintf(problem, sizeof problem, "%s: not a CUDA driver, it has no function cuInit", path);
        dlclose(opened);
        return;
    }
    struct link_map *map;
    library = opened;
    provider = dlinfo(opened, RTLD_DI_LINKMAP, &map) == 0 ? map->l_name : path;
}

// What the provider has under a name, or NULL.
static void *lookup(const char *symbol) {
    if (simulator)
        return simulator(symbol);
    return library ? dlsym(library, symbol) : NULL;
}

// The clock of a simulator, NULL with a GPU's driver, which has none.
static uint64_t (*virtual_clock)(void);

static void choose(void) {
    const char *wish = getenv("REPRISE_LIBCUDA");
    if (wish == NULL || *wish == '\0')
        choose_library("libcuda.so.1");
    else if (strcmp(wish, "sim") == 0)
        choose_simulator();
    else
        choose_library(wish);
    virtual_clock = (uint64_t (*)(void))lookup("repriseNow");
}

static void choose_once(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, choose);
}

// The provider's own function, or NULL.
static void *provided(const char *symbol) {
    choose_once();
    return lookup(symbol);
}

static CUresult initialized = CUDA_ERROR_NOT_INITIALIZED;

CUresult lazycuda_init_result(void) {
    return __atomic_load_n(&initialized, __ATOMIC_ACQUIRE);
}

// gorgonia.org/cu ends the process when cuInit fails, from its package's init and before the program
// can say what to do about it. So cuInit succeeds; lazycuda_init_result has the truth.
static CUresult init(unsigned int flags) {
    CUresult (*real)(unsigned int) = (CUresult (*)(unsigned int))provided("cuInit");
    if (flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    __atomic_store_n(&initialized, real ? real(flags) : CUDA_ERROR_NO_DEVICE, __ATOMIC_RELEASE);
    return CUDA_SUCCESS;
}

// CUDA 12.0 added two fields at the end of what describes a kernel node. A driver of CUDA 11 takes
// the same without them, which say nothing when the node has a CUfunction.
static const char *before_12(const char *symbol) {
    static const char *const names[][2] = {
        {"cuGraphAddKernelNode_v2", "cuGraphAddKernelNode"},
        {"cuGraphExecKernelNodeSetParams_v2", "cuGraphExecKernelNodeSetParams"},
        {"cuGraphKernelNodeSetParams_v2", "cuGraphKernelNodeSetParams"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(symbol, names[i][0]) == 0)
            return names[i][1];
    return NULL;
}

// Stands in for a function that is newer than the driver.
static CUresult missing(void) {
    return CUDA_ERROR_NOT_SUPPORTED;
}

// A driver that did not start is as good as none, except that it knows its version and what its
// results mean.
static int out_of_order(const char *symbol) {
    CUresult result = lazycuda_init_result();
    return result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_INITIALIZED
        && strcmp(symbol, "cuDriverGetVersion") != 0 && strncmp(symbol, "cuGetError", 10) != 0;
}

void *lazycuda_find(const char *symbol) {
    if (strcmp(symbol, "cuInit") == 0)
        return (void *)init;
    void *function = provided(symbol);
    if (!(simulator || library) || out_of_order(symbol))
        return lazycuda_absent(symbol);
    if (function == NULL && before_12(symbol))
        function = provided(before_12(symbol));
    return function ? function : (void *)missing;
}

const char *lazycuda_provider(void) {
    choose_once();
    return provider;
}

const char *lazycuda_problem(void) {
    choose_once();
    return problem;
}

int lazycuda_simulated(void) {
    choose_once();
    return virtual_clock != NULL;
}

uint64_t repriseNow(void) {
    choose_once();
    if (virtual_clock)
        return virtual_clock();
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

uint64_t repriseCalls(void) {
    uint64_t (*calls)(void) = (uint64_t (*)(void))provided("repriseCalls");
    return calls ? calls() : 0;
}

void repriseCount(int on) {
    void (*count)(int) = (void (*)(int))provided("repriseCount");
    if (count)
        count(on);
}

CUresult repriseLabel(const char *name) {
    CUresult (*label)(const char *) = (CUresult (*)(const char *))provided("repriseLabel");
    return label ? label(name) : CUDA_ERROR_NOT_SUPPORTED;
}

CUresult repriseLastError(repriseError *error) {
    CUresult (*last)(repriseError *) = (CUresult (*)(repriseError *))provided("repriseLastError");
    return last ? last(error) : CUDA_ERROR_NOT_SUPPORTED;
}
