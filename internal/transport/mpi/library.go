//go:build cuda || mpi

package mpi

/*
#cgo LDFLAGS: -ldl
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include "shim/shim.h"

struct functions {
#define MEMBER(result, name, parameters) result (*name) parameters;
	REPRISE_MPI_FUNCTIONS(MEMBER)
};

static struct functions f;

// RTLD_GLOBAL: plug-ins of Open MPI use symbols of the libraries that this one is linked with.
static const char *load(const char *path) {
	struct reprise_mpi_handlers handlers;
	reprise_mpi_save(&handlers);
	void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	reprise_mpi_restore(&handlers);
	if (library == NULL)
		return dlerror();
#define FIND(result, name, parameters) \
	f.name = (result (*) parameters)dlsym(library, "reprise_mpi_" #name); \
	if (f.name == NULL) \
		return dlerror();
	REPRISE_MPI_FUNCTIONS(FIND)
	return NULL;
}

static int call_version(void) { return f.version(); }
static int call_hosted(void) { return f.hosted(); }
static int call_open(int funneled, int comm, struct reprise_mpi_world *w) { return f.open(funneled, comm, w); }
static int call_finish(int finalize) { return f.finish(finalize); }
static void call_error(int result, char *text, int size) { f.error(result, text, size); }
static int call_gather(void *mine, int size, void *all) { return f.gather(mine, size, all); }
static int call_gatherv(void *mine, int size, void *all, int *sizes, int *offsets) { return f.gatherv(mine, size, all, sizes, offsets); }
static int call_freeze(struct reprise_mpi_message *m, int n, void **e) { return f.freeze(m, n, e); }
static int call_start(void *e) { return f.start(e); }
static int call_test(void *e, int polls) { return f.test(e, polls); }
static int call_run(void *e, int polls) { return f.run(e, polls); }
static int call_pending(void *e, char *flags) { return f.pending(e, flags); }
static int call_release(void *e) { return f.release(e); }
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"unsafe"
)

const libraryName = "libreprise-mpi.so"

// library calls the functions of libreprise-mpi.so.
type library struct{}

// loadOnce loads the library at the first call. It stays loaded: MPI can be initialised once.
var loadOnce = sync.OnceValue(load)

func loadEngine() (engine, error) { return library{}, loadOnce() }

func load() error {
	path, err := libraryPath()
	if err != nil {
		return err
	}
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	if text := C.load(name); text != nil {
		return fmt.Errorf("%w: %s cannot be loaded: %s", ErrUnavailable, path, C.GoString(text))
	}
	if v := C.call_version(); v != C.REPRISE_MPI_VERSION {
		return fmt.Errorf("%w: %s has version %d of its functions and this program needs %d: build both from the same sources", ErrUnavailable, path, v, C.REPRISE_MPI_VERSION)
	}
	return nil
}

// libraryPath returns the path in REPRISE_MPI, or that of the library beside the program.
func libraryPath() (string, error) {
	if path := os.Getenv("REPRISE_MPI"); path != "" {
		return path, nil
	}
	program, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("%w: the folder of this program is unknown: set REPRISE_MPI to the path of %s: %w", ErrUnavailable, libraryName, err)
	}
	path := filepath.Join(filepath.Dir(program), libraryName)
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("%w: there is no %s: build it with make mpi, or set REPRISE_MPI to its path", ErrUnavailable, path)
	}
	return path, nil
}

func (library) hosted() bool { return C.call_hosted() > 0 }

func (library) open(o Options) (world, int) {
	var w C.struct_reprise_mpi_world
	result := C.call_open(flag(o.Funneled), C.int(o.Communicator), &w)
	return world{rank: int(w.rank), size: int(w.size), anyThread: w.any_thread != 0, lastTag: int(w.last_tag)}, int(result)
}

func flag(b bool) C.int {
	if b {
		return 1
	}
	return 0
}

func (library) finish(finalize bool) int { return int(C.call_finish(flag(finalize))) }

func (library) text(result int) string {
	const size = 1024
	text := (*C.char)(C.calloc(1, size))
	defer C.free(unsafe.Pointer(text))
	C.call_error(C.int(result), text, size)
	return C.GoString(text)
}

// address returns the address of the first byte, nil if there is none.
func address(bytes []byte) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(bytes)) }

func (library) gather(mine, all []byte) int {
	return int(C.call_gather(address(mine), C.int(len(mine)), address(all)))
}

func (library) gatherv(mine, all []byte, sizes, offsets []int32) int {
	return int(C.call_gatherv(address(mine), C.int(len(mine)), address(all), (*C.int)(&sizes[0]), (*C.int)(&offsets[0])))
}

func (library) freeze(messages []message) (unsafe.Pointer, int) {
	list := (*C.struct_reprise_mpi_message)(C.calloc(C.size_t(len(messages)+1), C.sizeof_struct_reprise_mpi_message))
	defer C.free(unsafe.Pointer(list))
	for i, m := range messages {
		c := &unsafe.Slice(list, len(messages))[i]
		c.bytes, c.size = address(m.bytes), C.int64_t(len(m.bytes))
		c.peer, c.tag, c.send = C.int32_t(m.peer), C.int32_t(m.tag), flag(m.send)
	}
	var exchange unsafe.Pointer
	result := C.call_freeze(list, C.int(len(messages)), &exchange)
	return exchange, int(result)
}

func (library) call(f function, exchange unsafe.Pointer, polls int) int {
	switch f {
	case start:
		return int(C.call_start(exchange))
	case test:
		return int(C.call_test(exchange, C.int(polls)))
	case run:
		return int(C.call_run(exchange, C.int(polls)))
	case release:
		return int(C.call_release(exchange))
	}
	panic(fmt.Sprintf("BUG: function %d of the library", f))
}

func (library) pending(exchange unsafe.Pointer, count int) ([]bool, int) {
	flags := (*C.char)(C.calloc(C.size_t(count+1), 1))
	defer C.free(unsafe.Pointer(flags))
	result := C.call_pending(exchange, flags)
	all := make([]bool, count)
	for i, f := range unsafe.Slice(flags, count) {
		all[i] = f != 0
	}
	return all, int(result)
}
