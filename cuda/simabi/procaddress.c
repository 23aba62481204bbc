//go:build cuda && cgo

#include "procaddress.h"
#include "thread.h"

#include <string.h>

static const struct form {
	const char *symbol, *base;
	int since;
} forms[] = {
#define SYMBOL(name, base, since) {#name, #base, since},
#include "../../internal/lazycuda/symbols.def"
#include "../../internal/lazycuda/undeclared.def"
#undef SYMBOL
	// Since 12.0, this name means a function with another name.
	{"cuGraphInstantiateWithFlags", "cuGraphInstantiate", 12000},
};

static int is_per_thread(const char *symbol) { return strstr(symbol, "_ptsz") || strstr(symbol, "_ptds"); }

// The search is linear. The newest form that is not newer than the release is selected. Of two forms of the same
// release, the one for the per-thread default stream is selected if per_thread is set, and ignored otherwise. A form that
// the simulator does not implement is not replaced by an older one, whose arguments may differ.
void *simabi_proc_address(const char *base, int release, int per_thread, CUdriverProcAddressQueryResult *why) {
	const struct form *best = NULL;
	*why = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	for (const struct form *f = forms; f < forms + sizeof forms / sizeof *forms; f++) {
		int own = is_per_thread(f->symbol);
		if (strcmp(f->base, base) != 0 || (own && !per_thread))
			continue;
		if (f->since > release)
			*why = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
		else if (!best || f->since > best->since || (f->since == best->since && own))
			best = f;
	}
	if (!best)
		return NULL;
	*why = CU_GET_PROC_ADDRESS_SUCCESS;
	return simabi_lookup(best->symbol);
}
