// Package timeline records when each operation of a replay ran, and writes it for viewers of traces.
//
//	schedule ─► replay on a simulated device ─► its records  ─┐
//	         ─► replay on a GPU, with events ─► their times  ─┴─► Timeline ─► WriteChrome, report
//
// On a simulated device, the times are those of the simulator, to the picosecond, with the limit of each operation, the
// critical path, and the use of the device between events. On a GPU, an event is recorded before and after each operation.
// These times include the gaps of the stream around the operation and its wait for an engine, and nothing else is known.
package timeline
