// Package bench holds the workloads and the harness that replays them under
// every strategy and back end, checks each result against a CPU reference and
// reports how long a replay took.
package bench
