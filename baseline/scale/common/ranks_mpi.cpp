#include <algorithm>
#include <climits>
#include <stdexcept>
#include <string>

#include <mpi.h>
#include <reprise.h>

#include "ranks.hpp"

namespace reprise::scale {
namespace {

// MPI ends the program at an error by default, so results are not checked.

int count(std::size_t bytes) {
	if (bytes > INT_MAX)
		throw std::runtime_error("a message has " + std::to_string(bytes) + " bytes, and MPI counts up to " + std::to_string(INT_MAX) +
								 ": use fewer columns");
	return static_cast<int>(bytes);
}

double reduced(double value, MPI_Op op) {
	double result = 0;
	MPI_Allreduce(&value, &result, 1, MPI_DOUBLE, op, MPI_COMM_WORLD);
	return result;
}

// start starts requests. MPI refuses a list without any.
void start(std::vector<MPI_Request> &requests) {
	if (!requests.empty())
		MPI_Startall(static_cast<int>(requests.size()), requests.data());
}

} // namespace

Ranks::Ranks(int *argc, char ***argv) {
	int provided = 0;
	MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
	MPI_Comm_size(MPI_COMM_WORLD, &size_);
	MPI_Comm node = MPI_COMM_NULL;
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node);
	MPI_Comm_rank(node, &local_);
	MPI_Comm_free(&node);
}

Ranks::~Ranks() { MPI_Finalize(); }

// meet sets the clocks of all simulated ranks to the latest of them, plus the time of messages to the root of a binary tree
// and back.
void Ranks::meet(const Network &network) const {
	std::uint64_t now = repriseNow(), latest = 0;
	MPI_Allreduce(&now, &latest, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
	for (int ranks = 1; ranks < size_; ranks *= 2)
		latest += 2 * (network.occupation(sizeof(double)) + network.latency) / 1000;
	repriseWaitUntil(latest);
}

void Ranks::barrier(const Network &network) const { meet(network); }

double Ranks::sum(double value, const Network &network) const {
	meet(network);
	return reduced(value, MPI_SUM);
}

double Ranks::max(double value) const { return reduced(value, MPI_MAX); }

std::vector<float> Ranks::gather(const std::vector<float> &mine) const {
	const int length = count(mine.size());
	std::vector<int> lengths(static_cast<std::size_t>(size_)), offsets(lengths.size());
	MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
	std::size_t total = 0;
	for (std::size_t r = 0; r < lengths.size(); r++) {
		offsets[r] = count(total);
		total += static_cast<std::size_t>(lengths[r]);
	}
	std::vector<float> all(rank_ == 0 ? total : 0);
	MPI_Gatherv(mine.data(), length, MPI_FLOAT, all.data(), lengths.data(), offsets.data(), MPI_FLOAT, 0, MPI_COMM_WORLD);
	return all;
}

int Ranks::broadcast(int value) const {
	MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
	return value;
}

void Ranks::abort(int status) const {
	if (size_ > 1)
		MPI_Abort(MPI_COMM_WORLD, status);
}

// Stamp is the arrival of a message. It is a message of its own.
struct Stamp {
	std::size_t bytes; // of the other message
	Picoseconds arrival;
};

struct Exchange::Requests {
	// with adds the requests of a message.
	void with(const Message &m, int tag, void *data, std::size_t bytes) {
		MPI_Request request = MPI_REQUEST_NULL;
		if (m.sent)
			MPI_Send_init(data, count(bytes), MPI_BYTE, m.peer, tag, MPI_COMM_WORLD, &request);
		else
			MPI_Recv_init(data, count(bytes), MPI_BYTE, m.peer, tag, MPI_COMM_WORLD, &request);
		(m.sent ? sent : received).push_back(request);
	}

	Port *port;
	std::vector<MPI_Request> sent, received;
	std::vector<Stamp> departures, arrivals; // their elements do not move
};

Exchange::Exchange(const std::vector<Message> &messages, Port *port) : requests_(std::make_unique<Requests>()) {
	auto &r = *requests_;
	r.port = port;
	r.departures.reserve(messages.size());
	r.arrivals.reserve(messages.size());
	for (const auto &m : messages) {
		r.with(m, 2 * m.tag, m.data, m.bytes);
		if (port == nullptr)
			continue;
		auto &stamp = (m.sent ? r.departures : r.arrivals).emplace_back(Stamp{m.bytes, 0});
		r.with(m, 2 * m.tag + 1, &stamp.arrival, sizeof stamp.arrival);
	}
}

Exchange::~Exchange() {
	for (auto *list : {&requests_->received, &requests_->sent})
		for (auto &request : *list)
			MPI_Request_free(&request);
}

bool Exchange::empty() const { return requests_->received.empty() && requests_->sent.empty(); }

void Exchange::receive() { start(requests_->received); }

void Exchange::send() {
	const auto now = 1000 * repriseNow();
	for (auto &d : requests_->departures)
		d.arrival = requests_->port->sent(d.bytes, now);
	start(requests_->sent);
}

void Exchange::wait() {
	for (auto *list : {&requests_->received, &requests_->sent})
		MPI_Waitall(static_cast<int>(list->size()), list->data(), MPI_STATUSES_IGNORE);
	auto order = requests_->arrivals;
	std::stable_sort(order.begin(), order.end(), [](const Stamp &a, const Stamp &b) { return a.arrival < b.arrival; });
	Picoseconds last = 0;
	for (const auto &a : order)
		last = requests_->port->received(a.bytes, a.arrival);
	repriseWaitUntil((last + 999) / 1000);
}

} // namespace reprise::scale
