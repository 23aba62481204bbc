//go:build cuda

#include "thread.h"

#include "hostthread.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

// ended is a thread that has ended. The driver is not called from a destructor:
// entering Go from a thread that is going away is asking for trouble.
struct ended {
	struct ended *next;
	uint64_t thread;
};

static atomic_uint_fast64_t threads;
static _Atomic(struct ended *) list;
static __thread uint64_t mine;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

// A later destructor that calls the driver gets a new number, and a destructor again.
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
	if (e) { // else the state of this thread stays for good
		e->thread = mine;
		pthread_setspecific(key, e);
	}
	return mine;
}

// forms.S and gates.S set these. Initial-exec, since a library written in Go can only be
// loaded with static TLS anyway, and it takes no call to reach.
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

// Taking one off is safe since the driver's lock allows one taker.
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
