// The memory of a workload, and how its data travel between host and device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "driver.hpp"
#include "input.hpp"

namespace reprise {

enum class Mode { pinned, prefetch, managed };

// Block is memory as the driver knows it: of the device, with a twin in pinned memory where the host
// looks at it, or managed, and then both are one.
struct Block {
	CUdeviceptr dev = 0;
	std::byte *host = nullptr;
	std::size_t bytes = 0;
	bool managed = false;
};

// Array is a block of numbers.
template <class T> struct Array : Block {
	std::size_t size() const { return bytes / sizeof(T); }
	T *data() const { return reinterpret_cast<T *>(host); }

	// slice is elements [lo, hi).
	Array slice(std::size_t lo, std::size_t hi) const {
		Array part = *this;
		part.dev += lo * sizeof(T);
		part.host = host != nullptr ? host + lo * sizeof(T) : nullptr;
		part.bytes = (hi - lo) * sizeof(T);
		return part;
	}
};

// Draft is what is to become of an array.
template <class T> struct Draft {
	Array<T> to;
	std::vector<T> own; // unless it is written in place
	T *data() { return to.managed ? to.data() : own.data(); }
};

// Memory allocates for a workload, and frees what it allocated. Allocate in the order in which Go
// does: addresses, and with them the simulator's times, follow it.
class Memory {
public:
	Memory(const Device &device, Mode mode);
	~Memory();
	Memory(const Memory &) = delete;
	Memory &operator=(const Memory &) = delete;

	Mode mode() const { return mode_; }
	// bytes is the size of all allocations that the device has.
	std::size_t bytes() const { return bytes_; }

	// device allocates memory that the host does not look at.
	template <class T> Array<T> device(std::size_t n) { return as<T>(allocate(n * sizeof(T))); }
	// twinned allocates an array that is copied in every mode.
	template <class T> Array<T> twinned(std::size_t n) { return as<T>(twin(allocate(n * sizeof(T)))); }
	// transferred allocates an array that travels as the mode says.
	template <class T> Array<T> transferred(std::size_t n) {
		return mode_ == Mode::pinned ? twinned<T>(n) : as<T>(manage(n * sizeof(T)));
	}

	// write sets the beginning of an array where kernels find it; managed memory comes home for that.
	template <class T> void write(const Array<T> &to, const std::vector<T> &data) { write(to, data.data(), data.size() * sizeof(T)); }

	// draft is memory to fill and then send to an array: the array's own where that is the host's, so that gigabytes need no room
	// twice, and new elsewhere. Managed memory comes home for that.
	template <class T> Draft<T> draft(const Array<T> &to) {
		home(to);
		return {to, std::vector<T>(to.managed ? 0 : to.size())};
	}
	template <class T> void send(const Draft<T> &draft) {
		if (!draft.to.managed)
			write(draft.to, draft.own);
	}

	// refill sets an array where the host finds it, and poisons what is to become of it on the device.
	// Managed memory comes home first, and has only one place.
	template <class T> void refill(const Array<T> &to, const std::vector<T> &data) { refill(to, data.data(), data.size() * sizeof(T)); }

	// read is an array where the host finds it; managed memory comes home first.
	template <class T> const T *read(const Array<T> &array) {
		home(array);
		return array.data();
	}

	// peek is an array as the device has it; managed memory comes home first.
	template <class T> std::vector<T> peek(const Array<T> &array) {
		std::vector<T> v(array.size());
		fetch(v.data(), array);
		return v;
	}

	// poison sets every byte, of both twins, which makes floats of any width NaN. Managed memory goes to the
	// device for that.
	void poison(const std::vector<Block> &blocks);

	// poison_home is poison that leaves managed memory on the host.
	void poison_home(const Block &block);

	// travels notes an array that comes to the device in each iteration, and send_home brings all of these
	// back where they travel from.
	void travels(const Block &block) { travellers_.push_back(block); }
	void send_home();

private:
	Block allocate(std::size_t bytes);
	Block twin(Block block);
	Block manage(std::size_t bytes);
	void write(const Block &to, const void *data, std::size_t bytes);
	void refill(const Block &to, const void *data, std::size_t bytes);
	void fetch(void *data, const Block &from);
	void poison_device(const Block &block);
	// home brings managed memory to the host, and waits. A GPU's driver would do it fault by fault as the host touches
	// it; the simulated one cannot see what the host touches.
	void home(const Block &block);
	void prefetch(const Block &block, CUdevice where);

	template <class T> static Array<T> as(const Block &block) {
		Array<T> array;
		static_cast<Block &>(array) = block;
		return array;
	}

	const Device &device_;
	Mode mode_;
	CUstream stream_ = nullptr; // of poison and home
	std::vector<CUdeviceptr> allocated_;
	std::size_t bytes_ = 0; // of allocated_
	std::vector<void *> pinned_;
	std::vector<Block> travellers_;
};

} // namespace reprise
