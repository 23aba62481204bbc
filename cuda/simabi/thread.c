//go:build cuda && cgo

#include "thread.h"

#include "hostthread.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

// ended is an element of the list of threads that have ended. The destructor only adds to this list: calling Go from a
// thread that is ending is not safe.
struct ended {
	struct ended *next;
	uint64_t thread;
};

static atomic_uint_fast64_t threads;
static _Atomic(struct ended *) list;
static __thread uint64_t mine;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

// end is the destructor of a thread's number. If a later destructor calls the driver, the thread gets a new number, and
// end runs again. The list is a lock-free stack.
static void end(void *record) {
	struct ended *e = record;
	mine = 0;
	e->next = atomic_load(&list);
	while (!atomic_compare_exchange_weak(&list, &e->next, e))
		;
}

static void prepare(void) { pthread_key_create(&key, end); }

static uint64_t number(void) {
	struct ended *e = malloc(sizeof *e);
	pthread_once(&once, prepare);
	mine = atomic_fetch_add(&threads, 1) + 1;
	if (e) { // without memory, the state of this thread is never dropped
		e->thread = mine;
		pthread_setspecific(key, e);
	}
	return mine;
}

// forms.S and gates.S set these variables. They use the initial-exec model, which requires no call for an access. A
// library written in Go requires static thread-local storage in any case.
__thread uint64_t simabi_per_thread __attribute__((tls_model("initial-exec")));
__thread const char *simabi_called;

const char *simabi_calling(void) { return simabi_called; }

struct simabi_caller simabi_caller(void) {
	struct simabi_caller caller = {mine ? mine : number(), simabi_per_thread, simabi_in_host()};
	simabi_per_thread = 0;
	return caller;
}

int simabi_forked;

static void forked(void) { simabi_forked = 1; }

__attribute__((constructor)) static void watch_forks(void) { pthread_atfork(NULL, NULL, forked); }

// The removal is safe from the ABA problem, because the driver's lock permits only one remover.
uint64_t simabi_ended(void) {
	struct ended *e = atomic_load(&list);
	uint64_t thread = 0;
	while (e && !atomic_compare_exchange_weak(&list, &e, e->next))
		;
	if (e) {
		thread = e->thread;
		free(e);
	}
	return thread;
}
