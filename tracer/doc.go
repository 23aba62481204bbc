// Package tracer records the GPU work of an ordinary program as an ir.Graph. A
// program allocates, launches, copies and fills through a Tracer; each call is
// one operation of the graph, with the byte ranges it reads and writes. What a
// kernel does with its pointers is inferred from its PTX, so nothing has to be
// declared; a declaration that claims less than the PTX shows is refused.
//
// A program need not be recorded. In mode Direct it only runs, and a Sink may receive its calls: package auto has one
// that replays what the program repeats.
//
// Calls return no error: the first one sticks, makes every later call a no-op,
// and is what Err and Finish report, with the source line it happened on.
package tracer
