// Calls through libcuda.a to the driver of driver.c, in the way that argv[1] names.
#include <cuda.h>
#include <dlfcn.h>
#include <lazycuda.h>
#include <pthread.h>
#include <reprise.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                             \
    do {                                                             \
        if (!(condition)) {                                          \
            printf("line %d: %s does not hold\n", __LINE__, #condition); \
            exit(1);                                                 \
        }                                                            \
    } while (0)

// What the driver remembers.
static void *remembered(const char *name) {
    void *driver = dlopen(lazycuda_provider(), RTLD_NOW);
    CHECK(driver);
    void *variable = dlsym(driver, name);
    CHECK(variable);
    return variable;
}

// The first call of each function goes through the resolver, the second does not: both must pass
// everything on, registers and stack.
static void arguments(void) {
    const void **pointers = remembered("given_pointers");
    float *floats = remembered("given_floats");
    int *dims = remembered("given_dims");
    unsigned int *shared = remembered("given_shared");
    for (int i = 0; i < 2; i++) {
        CHECK(cuTexRefSetMipmapLevelBias((CUtexref)(0x1234567890 + i), 1.5f + i) == CUDA_SUCCESS);
        CHECK(pointers[0] == (CUtexref)(0x1234567890 + i) && floats[0] == 1.5f + i);
        CHECK(cuTexRefSetMipmapLevelClamp((CUtexref)(intptr_t)(0x77 + i), -0.25f, 1e30f) == CUDA_SUCCESS);
        CHECK(pointers[0] == (CUtexref)(intptr_t)(0x77 + i) && floats[0] == -0.25f && floats[1] == 1e30f);
        void *params[1], *extra[1];
        CHECK(cuLaunchKernel((CUfunction)0xf00, 1, 2, 3, 4, 5, 6, 0xffffffff, (CUstream)0x5, params, extra) == 719);
        CHECK(pointers[0] == (void *)0xf00 && pointers[1] == (void *)0x5 && pointers[2] == params && pointers[3] == extra);
        for (int d = 0; d < 6; d++) {
            CHECK(dims[d] == d + 1);
            dims[d] = 0;
        }
        CHECK(*shared == 0xffffffff);
    }
}

static void results(void) {
    int n = -1;
    CUdeviceptr p;
    CHECK(lazycuda_init_result() == CUDA_ERROR_NOT_INITIALIZED);
    CHECK(cuInit(1) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuInit(0) == CUDA_SUCCESS && lazycuda_init_result() == CUDA_SUCCESS);
    CHECK(cuDeviceGetCount(&n) == CUDA_SUCCESS && n == 3);
    CHECK(cuMemAlloc(&p, 4) == CUDA_ERROR_NOT_SUPPORTED); // the driver is too old for it
    CHECK(cuMemAlloc(&p, 4) == CUDA_ERROR_NOT_SUPPORTED);
    CHECK(strcmp(lazycuda_problem(), "") == 0);
    uint64_t before = repriseNow();
    CHECK(before > 0 && repriseNow() >= before);
    repriseWaitUntil(UINT64_MAX); // that driver has no virtual time
    CHECK(repriseNow() - before < UINT64_MAX / 2);
    CHECK(repriseCalls() == 0); // that driver does not count
}

// A driver of CUDA 11 has the function for kernel nodes without _v2, and others not at all.
static void old(void) {
    const void **pointers = remembered("given_pointers");
    int *dims = remembered("given_dims");
    CUDA_KERNEL_NODE_PARAMS params = {0};
    CUgraphNode node = NULL, after[2] = {NULL};
    for (int i = 0; i < 2; i++) {
        CHECK(cuGraphAddKernelNode_v2(&node, (CUgraph)0x99, after, 2 + i, &params) == CUDA_SUCCESS);
        CHECK(node == (CUgraphNode)0x77 && pointers[0] == (void *)0x99 && pointers[1] == after);
        CHECK(pointers[2] == &params && dims[0] == 2 + i);
    }
    CHECK(cuGraphExecKernelNodeSetParams_v2(NULL, node, &params) == CUDA_ERROR_NOT_SUPPORTED);
    CHECK(!lazycuda_simulated());
}

// The driver answers cuInit with DRIVER_INIT, 999.
static void failing(void) {
    int n = -1, version = -1;
    CUdeviceptr p;
    CHECK(cuInit(0) == CUDA_SUCCESS && lazycuda_init_result() == CUDA_ERROR_UNKNOWN);
    CHECK(cuDeviceGetCount(&n) == CUDA_SUCCESS && n == 0);
    CHECK(cuMemAlloc(&p, 4) == CUDA_ERROR_UNKNOWN);
    CHECK(cuDeviceGetAttribute(&n, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0) == CUDA_ERROR_UNKNOWN);
    CHECK(cuDriverGetVersion(&version) == CUDA_SUCCESS && version == 12020);
}

// There is no driver.
static void absent(void) {
    int n = -1, version = -1;
    const char *text;
    CUcontext context;
    CHECK(strcmp(lazycuda_provider(), "") == 0 && strlen(lazycuda_problem()) > 0);
    CHECK(cuCtxGetCurrent(&context) == CUDA_ERROR_NO_DEVICE);
    CHECK(cuInit(0) == CUDA_SUCCESS && lazycuda_init_result() == CUDA_ERROR_NO_DEVICE);
    CHECK(cuDeviceGetCount(&n) == CUDA_SUCCESS && n == 0);
    CHECK(cuDeviceGetCount(NULL) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuDriverGetVersion(&version) == CUDA_SUCCESS && version == 0);
    CHECK(cuGetErrorName(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, &text) == CUDA_SUCCESS);
    CHECK(strcmp(text, "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE") == 0);
    CHECK(cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text) == CUDA_SUCCESS && strlen(text) > 0);
    CHECK(cuGetErrorString((CUresult)12345, &text) == CUDA_ERROR_INVALID_VALUE && text == NULL);
    CHECK(cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL) == CUDA_ERROR_NO_DEVICE);
    printf("%s\n", lazycuda_problem());
}

static pthread_barrier_t start;

static void *first_use(void *argument) {
    int device = (int)(intptr_t)argument, value = -1, n = -1, version = -1;
    pthread_barrier_wait(&start);
    CHECK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, device) == CUDA_SUCCESS);
    CHECK(value == 10000 + device);
    CHECK(cuDeviceGetCount(&n) == CUDA_SUCCESS && n == 3);
    CHECK(cuDriverGetVersion(&version) == CUDA_SUCCESS && version == 12020);
    return NULL;
}

static void threads(void) {
    enum { N = 64 };
    pthread_t running[N];
    pthread_barrier_init(&start, NULL, N);
    for (int i = 0; i < N; i++)
        CHECK(pthread_create(&running[i], NULL, first_use, (void *)(intptr_t)i) == 0);
    for (int i = 0; i < N; i++)
        pthread_join(running[i], NULL);
}

// Prints nanoseconds per call, through a trampoline and through a pointer from dlsym: the least of
// ten turns each, since other processes take time from some.
static void overhead(void) {
    CUresult (*direct)(int *, CUdevice_attribute, CUdevice) = remembered("cuDeviceGetAttribute");
    enum { N = 2000000 };
    int value;
    uint64_t least[2] = {UINT64_MAX, UINT64_MAX};
    for (int turn = 0; turn < 20; turn++) {
        uint64_t begin = repriseNow();
        if (turn % 2 == 0)
            for (int i = 0; i < N; i++)
                cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, i);
        else
            for (int i = 0; i < N; i++)
                direct(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, i);
        uint64_t took = repriseNow() - begin;
        if (took < least[turn % 2])
            least[turn % 2] = took;
    }
    printf("%.3f %.3f\n", (double)least[0] / N, (double)least[1] / N);
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(void);
    } ways[] = {{"arguments", arguments}, {"results", results}, {"old", old}, {"failing", failing}, {"absent", absent},
        {"threads", threads}, {"overhead", overhead}};
    for (size_t i = 0; argc == 2 && i < sizeof ways / sizeof *ways; i++)
        if (strcmp(argv[1], ways[i].name) == 0) {
            ways[i].run();
            return 0;
        }
    fprintf(stderr, "usage: caller WAY\n");
    return 2;
}
