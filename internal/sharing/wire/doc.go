// Package wire shares a device between processes. A Server holds the sharing.Core. A Client is one program of another
// process: it reports arrivals and completions over a Unix socket and receives grants. The device is the
// client's own affair: the server neither opens one nor sees a kernel.
//
// A connection is one program. The end of the connection is the end of the program.
//
// # Messages
//
// Every message is a frame of 16 bytes in little endian, so no length can be wrong and nothing is allocated. The layout is
//
//	0     1      2      4      8           16
//	kind  small  short  word   long
//
// A client begins, and the server answers with its policy, which states how programs are cut:
//
//	client   hello    small = version, long = magic
//	server   text...  the name of the policy, 14 bytes a frame, small = length
//	         welcome  small = 1 if classes have stream priorities, short = what a unit is, long = Most in ns
//
// Then the client describes its program:
//
//	client   text...  its name
//	         stage    word = number of units, long = time alone in ns, 0 if unknown
//	         unit...  small = bound, word = multiprocessors, long = predicted time in ns
//	         register small = class, word = number of stages
//	server   registered  small = class, at most that of the configuration
//
// Afterwards it submits stages. Grants are completed in order:
//
//	client   arrive    short = stage
//	server   grant     short = stage, word = first unit, long = number of units, and of the grant << 32
//	client   completed word = number of the grant
//	server   ended     short = stage
//
//	client   cancel    forgets the stages that wait, and the rest of the present one
//	server   canceled  when no unit is in flight
//
// A connection ends with a frame failed (small = Code, long = limit). A frame that breaks these rules ends its
// connection, and nothing else.
//
// # Leases
//
// A grant has to be completed within its predicted time by a factor, and a lease. The time in which units of other clients
// ran does not count. A client that is later has lost the device: its program is removed and its connection ends with Lost.
// If the connection of a client ends while it has grants, others have to expect that its kernels still run: its program
// stays for a lease.
//
// # Threads
//
// The server is one thread, which waits with epoll and reads and writes the sockets itself. Against a goroutine for each
// connection, this leaves out a wake-up and a lock, lets the greatest class go first when several sockets are readable,
// and has timers of less than a millisecond. The client reads with a blocking system call for the same reason.
// Spinning before a read was measured as well: it takes a core, and on a busy machine it delays the process that it
// waits for.
package wire
