// Package libcudanull holds the driver that does nothing: null.c, which `make libcudanull`
// builds as build/libcudanull.so. Every call succeeds at once, so what remains of a
// replay's time is what submitting it costs the host. REPRISE_LIBCUDA names it to a program
// that is linked with internal/lazycuda, in Go or in C++:
//
//	REPRISE_LIBCUDA=build/libcudanull.so PROGRAM
//
// It gives out handles and counts those that are live, and it counts calls, until repriseCount has it leave that. It has what
// package cuda and programs like it use: who asks for anything else is answered that it is
// not supported, rather than success with nothing to show for it.
package libcudanull
