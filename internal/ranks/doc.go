// Package ranks runs distributed plans (internal/distribute) on the devices of one rank, together with the other ranks.
//
//	Plan ─► chunks ─► modules, functions, memory      for each device of the rank
//	     ─► rounds ─► segments: graphs with the nodes of all devices, and an exchange at the end
//
// The host waits only at exchanges: until the bytes to send are in staging memory, and until the messages have arrived. Work
// that does not depend on the exchange has been launched before and runs meanwhile. With Options.Streams, a segment is
// a command list for each device and stage, and devices wait for each other by events.
package ranks
