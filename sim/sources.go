package sim

// Sources is a hash of the files that the simulator was built from, as the Makefile has the
// linker note it; "" in what was built otherwise.
var Sources string
