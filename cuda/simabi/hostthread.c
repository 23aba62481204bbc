//go:build cuda && cgo

#include "hostthread.h"

#include <pthread.h>
#include <stdlib.h>

// worker is a thread that calls functions of the program, one after another. Idle workers are kept in a list. If a
// function ends the thread, with pthread_exit or by cancellation, a cleanup handler marks the call as finished and the
// worker as ended; the caller then frees the worker.
struct worker {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	void (*call)(void *); // NULL while the worker is idle
	void *argument;
	int ended;
	struct worker *next; // in idle
};

static struct worker *idle;
static pthread_mutex_t idle_lock = PTHREAD_MUTEX_INITIALIZER;

static __thread uint64_t in_host;

uint64_t simabi_in_host(void) { return in_host; }

// answer marks the call as finished. It is the thread's last use of a worker that has ended.
static void answer(struct worker *w, int ended) {
	pthread_mutex_lock(&w->lock);
	w->call = NULL;
	w->ended = ended;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
}

static void answer_ended(void *w) { answer(w, 1); }

static void *work(void *argument) {
	struct worker *w = argument;
	in_host = 1;
	for (;;) {
		pthread_mutex_lock(&w->lock);
		while (!w->call)
			pthread_cond_wait(&w->changed, &w->lock);
		pthread_mutex_unlock(&w->lock);
		pthread_cleanup_push(answer_ended, w);
		w->call(w->argument);
		pthread_cleanup_pop(0);
		answer(w, 0);
	}
	return NULL;
}

static void discard(struct worker *w) {
	pthread_cond_destroy(&w->changed);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

// start returns a new worker, or NULL if the system has no memory or no thread left.
static struct worker *start(void) {
	pthread_t thread;
	struct worker *w = calloc(1, sizeof *w);
	if (!w)
		return NULL;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->changed, NULL);
	if (pthread_create(&thread, NULL, work, w)) {
		discard(w);
		return NULL;
	}
	pthread_detach(thread);
	return w;
}

static struct worker *take(void) {
	pthread_mutex_lock(&idle_lock);
	struct worker *w = idle;
	if (w)
		idle = w->next;
	pthread_mutex_unlock(&idle_lock);
	return w ? w : start();
}

static void give_back(struct worker *w) {
	pthread_mutex_lock(&idle_lock);
	w->next = idle;
	idle = w;
	pthread_mutex_unlock(&idle_lock);
}

// run calls a function on a worker and waits for it. If no worker can be started, it calls the function on the current
// thread. That is a thread of Go's runtime, so a function that ends its thread then ends the process.
static void run(void (*call)(void *), void *argument) {
	struct worker *w = take();
	if (!w) {
		in_host = 1;
		call(argument);
		in_host = 0;
		return;
	}
	pthread_mutex_lock(&w->lock);
	w->argument = argument;
	w->call = call;
	pthread_cond_broadcast(&w->changed);
	while (w->call)
		pthread_cond_wait(&w->changed, &w->lock);
	int ended = w->ended;
	pthread_mutex_unlock(&w->lock);
	if (ended)
		discard(w);
	else
		give_back(w);
}

void simabi_call_host(void (*function)(void *), void *data) { run(function, data); }

struct callback {
	CUstreamCallback function;
	CUstream stream;
	CUresult status;
	void *data;
};

static void call_back(void *argument) {
	struct callback *c = argument;
	c->function(c->stream, c->status, c->data);
}

void simabi_call_back(CUstreamCallback function, CUstream stream, CUresult status, void *data) {
	struct callback c = {function, stream, status, data};
	run(call_back, &c);
}
