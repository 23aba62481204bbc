// The network between simulated ranks: the LogGP model of Go's package internal/machine.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace reprise::scale {

// Picoseconds are virtual time.
using Picoseconds = std::uint64_t;

// Network is a network between nodes, of which each has one rank.
struct Network {
	double gbps = 50;						 // 1e9 bytes/s
	Picoseconds latency = 2000000;		 // from the end of the injection of a message to its arrival
	Picoseconds per_message = 500000; // for which a message occupies both sides, beside its bytes

	Picoseconds occupation(std::size_t bytes) const {
		return per_message + static_cast<Picoseconds>(std::ceil(static_cast<double>(bytes) * 1000 / gbps));
	}
};

// Port is the connection of a rank to the network.
class Port {
public:
	explicit Port(const Network &network) : network_(network) {}

	// sent returns the arrival of a message that is ready to be sent.
	Picoseconds sent(std::size_t bytes, Picoseconds ready) {
		out_ = std::max(ready, out_) + network_.occupation(bytes);
		return out_ + network_.latency;
	}
	// received returns the time at which a message is complete. Call it in the order of arrivals.
	Picoseconds received(std::size_t bytes, Picoseconds arrival) { return in_ = std::max(arrival, in_ + network_.occupation(bytes)); }

private:
	const Network &network_;
	Picoseconds out_ = 0, in_ = 0; // the ends of the last messages
};

} // namespace reprise::scale
