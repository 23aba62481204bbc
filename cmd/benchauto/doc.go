// Command benchauto plans every graph at hand with every strategy and says on how many of them one is
// quicker than auto, by the model, and whether auto is slower than serial anywhere. `make
// bench-auto` runs it; it fails where less than 95 % are auto's.
//
// Programs of launches and copies that contend for the device (irtest.Contended) or have the shape of a well-known
// computation (irtest.Shaped) are also searched by ten times as many steps as
// auto makes; it fails where that is quicker by more than 1 % in the geometric mean.
//
// The graphs are those programs, those of internal/bench/taskgraph in both forms, the networks of internal/bench/network, the
// workloads of bench on each simulated GPU and in each memory mode, by what their launches were
// counted to do, and the .rir files on the command line, which reprise import makes of others.
// Each is planned as a graph and for streams.
package main
