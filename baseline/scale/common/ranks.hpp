// The ranks of a run: the processes that mpirun has started, or this process alone. ranks_mpi.cpp is the implementation if
// the build has found an MPI, ranks_alone.cpp is the other one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "network.hpp"

namespace reprise::scale {

// Message is memory that one rank sends to another in each run of an exchange.
struct Message {
	int peer;
	int tag;
	bool sent; // by this rank; the other messages are received
	void *data;
	std::size_t bytes;
};

// On the simulated driver, each rank has a virtual clock of its own. Messages then carry the times of their arrivals, and
// collective functions set all clocks to one time.

// Ranks joins MPI in its constructor and leaves it in its destructor. All functions but abort are collective.
class Ranks {
public:
	Ranks(int *argc, char ***argv);
	~Ranks();
	Ranks(const Ranks &) = delete;
	Ranks &operator=(const Ranks &) = delete;

	int rank() const { return rank_; }
	int size() const { return size_; }
	// local is the position of this rank among those on the same node.
	int local() const { return local_; }

	// barrier and sum take the time of messages up and down a tree of the ranks. max takes none: it collects figures.
	void barrier(const Network &network) const;
	double sum(double value, const Network &network) const;
	double max(double value) const;
	// gather returns the numbers of all ranks in the order of the ranks, on rank 0. On others the result is empty.
	std::vector<float> gather(const std::vector<float> &mine) const;
	// broadcast returns the value of rank 0.
	int broadcast(int value) const;
	// abort ends all other ranks, and this one if there are others.
	void abort(int status) const;

private:
	void meet(const Network &network) const;

	int rank_ = 0, size_ = 1, local_ = 0;
};

// Exchange is a list of messages that are exchanged many times, as persistent requests. port is that of a simulated rank, and
// nullptr otherwise.
class Exchange {
public:
	Exchange(const std::vector<Message> &messages, Port *port);
	~Exchange();
	Exchange(const Exchange &) = delete;
	Exchange &operator=(const Exchange &) = delete;

	bool empty() const;
	// receive lets messages arrive. send sends, and wait returns when all messages have arrived and left.
	void receive();
	void send();
	void wait();

private:
	struct Requests;
	std::unique_ptr<Requests> requests_;
};

} // namespace reprise::scale
