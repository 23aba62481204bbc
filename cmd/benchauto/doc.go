// Command benchauto plans a corpus of graphs with every strategy and compares the predicted times of one replay with
// those of the strategy auto. `make bench-auto` runs it. It fails if
//
//   - another strategy is quicker than auto on more than 5 % of the inputs,
//   - auto is slower than serial on any input, or
//   - on the inputs that are also searched with ten times as many steps as auto takes, the longer search is quicker by
//     more than 1 % in the geometric mean.
//
// The corpus, each graph planned once for the graph back end and once for streams:
//
//   - the task graphs of internal/bench/taskgraph, in both forms;
//   - programs of launches and copies that contend for the device (irtest.Contended) or have the shape of a well-known
//     computation (irtest.Shaped); these are the ones that are searched for longer;
//   - the networks of internal/bench/network;
//   - the workloads of internal/bench on each simulated GPU and in each memory mode, with the measured demand of each
//     launch;
//   - the .rir files on the command line. reprise import writes such files from graphs in other formats.
package main
