package sim

// Sources is a hash of the source files of the simulator, which the Makefile sets through the linker; "" in other
// builds.
var Sources string
