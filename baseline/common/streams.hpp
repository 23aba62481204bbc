// Streams and events, and how a schedule by hand is put on them.
#pragma once

#include <initializer_list>
#include <vector>

#include "op.hpp"

namespace reprise {

// Streams carries out a schedule that a workload writes with run, record and wait, and ends with
// finish. A plain iteration enqueues what it says and nothing else: it finds all streams empty and waits for
// the open ends. When the schedule is captured, or timed between two events, all streams start from the
// first and end there.
class Streams {
public:
	explicit Streams(const Device &device) : device_(device) {}
	~Streams();
	Streams(const Streams &) = delete;
	Streams &operator=(const Streams &) = delete;

	// run puts operations on a stream, in order.
	void run(int stream, std::initializer_list<const Op *> ops);
	void run(int stream, const Op &op) { run(stream, {&op}); }

	// record marks the present end of a stream, for others to wait for.
	int record(int stream);
	void wait(int stream, int event);

	// finish names the streams whose last work no other stream waits for.
	void finish(std::initializer_list<int> open);

	// begin starts a plain iteration; the next finish waits on the host.
	void begin();
	// begin_joined starts an iteration whose streams start from the first one and end there.
	void begin_joined();
	// begin_capture is begin_joined for a capture, from which prefetches are kept out: they are collected.
	void begin_capture();

	CUstream stream(int i);
	const std::vector<Op> &prefetches() const { return prefetches_; }

	// What the last iteration took.
	int ops() const { return ops_; }
	int lanes() const { return static_cast<int>(lanes_.size()); }
	int waits() const { return waits_; }

private:
	enum class Kind { plain, joined, capture };
	struct Lane {
		CUstream stream = nullptr;
		bool forked = false;
	};

	void start(Kind kind);
	Lane &lane(int i);
	void fork(int i);
	CUevent next_event();

	const Device &device_;
	std::vector<Lane> lanes_;
	std::vector<CUevent> events_; // in the order of their records
	std::size_t recorded_ = 0;
	Kind kind_ = Kind::plain;
	int origin_ = 0; // the event at the beginning of the first stream
	std::vector<Op> prefetches_;
	int ops_ = 0, waits_ = 0;
};

} // namespace reprise
