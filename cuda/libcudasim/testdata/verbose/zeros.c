// Calls every function in the file argv[1] with zeros as arguments, before cuInit and in a context, and
// prints the results. It leaves out functions for debuggers and those that destroy the context.
#include "../check.h"

#include <dlfcn.h>

typedef CUresult (*any)(long, long, long, long, long, long, long, long, long, long, long, long);

static int skipped(const char *name) {
	return strncmp(name, "cudbg", 5) == 0 || strcmp(name, "cuInit") == 0 || strncmp(name, "cuCtxSetCurrent", 15) == 0 ||
		strncmp(name, "cuCtxPopCurrent", 15) == 0 || strncmp(name, "cuDevicePrimaryCtxReset", 23) == 0 ||
		strncmp(name, "cuDevicePrimaryCtxRelease", 25) == 0 || strncmp(name, "cuThreadExchange", 16) == 0;
}

static void each(const char *file) {
	char name[200];
	FILE *f = fopen(file, "r");
	TRUE(f != NULL);
	while (fgets(name, sizeof name, f)) {
		name[strcspn(name, "\n")] = 0;
		if (skipped(name))
			continue;
		any function = (any)dlsym(RTLD_DEFAULT, name);
		TRUE(function != NULL);
		CUresult result = function(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
		fflush(stderr);
		fprintf(stderr, "returned %s %d\n", name, result);
	}
	fclose(f);
}

int main(int argc, char **argv) {
	TRUE(argc == 2);
	each(argv[1]);
	open_device();
	each(argv[1]);
	return 0;
}
