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

// The provider: the lookup function of a simulator, an open library, or neither. It is chosen once, at the first call.
static void *(*simulator)(const char *symbol);
static void *library;
static const char *provider = "";
static char problem[512];

// The lookup function that simabi's constructor offers. It is separate from the chosen provider: another constructor
// may call the driver first, and the choice must not change after that.
static void *(*offered)(const char *symbol);

void lazycuda_provide_sim(void *(*lookup)(const char *symbol)) {
    offered = lookup;
}

static void choose_simulator(void) {
    if (offered == NULL) {
        snprintf(problem, sizeof problem, "REPRISE_LIBCUDA=sim, but this program contains no simulator: "
            "import github.com/reprise-gpu/reprise/cuda/simabi, or set it to the path of libcudasim.so");
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
        snprintf(problem, sizeof problem, "%s is not a CUDA driver: it has no function cuInit", path);
        dlclose(opened);
        return;
    }
    struct link_map *map;
    library = opened;
    provider = dlinfo(opened, RTLD_DI_LINKMAP, &map) == 0 ? map->l_name : path;
}

// lookup returns the provider's function with a name, or NULL. The provider must have been chosen.
static void *lookup(const char *symbol) {
    if (simulator)
        return simulator(symbol);
    return library ? dlsym(library, symbol) : NULL;
}

// The clock of the simulator; NULL with a GPU's driver.
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

// provided chooses the provider if necessary and returns its function with a name, or NULL.
static void *provided(const char *symbol) {
    choose_once();
    return lookup(symbol);
}

static CUresult initialized = CUDA_ERROR_NOT_INITIALIZED;

CUresult lazycuda_init_result(void) {
    return __atomic_load_n(&initialized, __ATOMIC_ACQUIRE);
}

// init replaces cuInit and always succeeds. gorgonia.org/cu calls cuInit when the package is initialized and ends the
// process on an error, before the program could report a remedy. lazycuda_init_result returns the provider's result.
static CUresult init(unsigned int flags) {
    CUresult (*real)(unsigned int) = (CUresult (*)(unsigned int))provided("cuInit");
    if (flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    __atomic_store_n(&initialized, real ? real(flags) : CUDA_ERROR_NO_DEVICE, __ATOMIC_RELEASE);
    return CUDA_SUCCESS;
}

// before_12 returns the name of a function's form before CUDA 12.0, or NULL. CUDA 12.0 added two fields at the end of
// the parameters of a kernel node. They have no meaning for a node with a CUfunction, so the older form of a CUDA 11
// driver can be called with the same structure.
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

// missing replaces a function that is newer than the driver.
static CUresult missing(void) {
    return CUDA_ERROR_NOT_SUPPORTED;
}

// out_of_order returns 1 if the provider's cuInit has failed and the function depends on it. The functions for the
// version and for names and texts of results do not.
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

void repriseWaitUntil(uint64_t time) {
    void (*wait)(uint64_t) = (void (*)(uint64_t))provided("repriseWaitUntil");
    if (wait)
        wait(time);
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
