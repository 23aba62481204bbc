#include "streams.hpp"

namespace reprise {

Streams::~Streams() {
	for (const auto e : events_)
		cuEventDestroy(e);
	for (const auto &l : lanes_)
		cuStreamDestroy(l.stream);
}

void Streams::run(int stream, std::initializer_list<const Op *> ops) {
	for (const auto *op : ops) {
		if (is_nothing(*op))
			continue;
		ops_++;
		if (kind_ == Kind::capture && is_prefetch(*op)) {
			prefetches_.push_back(*op);
			continue;
		}
		fork(stream);
		enqueue(device_, *op, this->stream(stream));
	}
}

int Streams::record(int stream) {
	fork(stream);
	CU(cuEventRecord(next_event(), this->stream(stream)));
	return static_cast<int>(recorded_) - 1;
}

void Streams::wait(int stream, int event) {
	waits_++;
	lane(stream).forked = true; // what it waits for has come from the first stream
	CU(cuStreamWaitEvent(this->stream(stream), events_[static_cast<std::size_t>(event)], 0));
}

void Streams::finish(std::initializer_list<int> open) {
	for (const int i : open) {
		if (kind_ == Kind::plain) {
			CU(cuStreamSynchronize(stream(i)));
		} else if (i != 0) {
			const auto end = static_cast<std::size_t>(record(i));
			CU(cuStreamWaitEvent(stream(0), events_[end], 0));
		}
	}
}

void Streams::begin() { start(Kind::plain); }

void Streams::begin_joined() { start(Kind::joined); }

void Streams::begin_capture() { start(Kind::capture); }

void Streams::start(Kind kind) {
	kind_ = kind;
	recorded_ = 0;
	prefetches_.clear();
	ops_ = waits_ = 0;
	for (auto &l : lanes_)
		l.forked = false;
	if (kind != Kind::plain)
		origin_ = record(0);
}

CUstream Streams::stream(int i) { return lane(i).stream; }

Streams::Lane &Streams::lane(int i) {
	const auto n = static_cast<std::size_t>(i);
	while (lanes_.size() <= n) {
		Lane l;
		CU(cuStreamCreate(&l.stream, CU_STREAM_NON_BLOCKING));
		lanes_.push_back(l);
	}
	return lanes_[n];
}

// fork makes a stream start from the first one, when it has to and has not yet.
void Streams::fork(int i) {
	auto &l = lane(i);
	if (kind_ == Kind::plain || i == 0 || l.forked)
		return;
	l.forked = true;
	CU(cuStreamWaitEvent(l.stream, events_[static_cast<std::size_t>(origin_)], 0));
}

CUevent Streams::next_event() {
	if (recorded_ == events_.size()) {
		CUevent e = nullptr;
		CU(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
		events_.push_back(e);
	}
	return events_[recorded_++];
}

} // namespace reprise
