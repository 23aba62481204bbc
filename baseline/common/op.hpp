// What a workload asks of the device: the operations that its versions put on streams and into graphs.
#pragma once

#include <cstring>
#include <type_traits>
#include <variant>
#include <vector>

#include "memory.hpp"

namespace reprise {

// PTX makes the text of internal/kernels/NAME.ptx a part of the program, as the string ptx_NAME.
#define REPRISE_PTX(name)                                                            \
	asm(".section .rodata\n.balign 8\n.globl ptx_" #name "\nptx_" #name ":\n"          \
		".incbin \"" #name ".ptx\"\n.byte 0\n.previous\n");                             \
	extern "C" const char ptx_##name[]

// Kernel is a compiled kernel, loaded from a module of its own.
class Kernel {
public:
	Kernel(const char *ptx, const char *entry);
	~Kernel();
	Kernel(const Kernel &) = delete;
	Kernel &operator=(const Kernel &) = delete;

	CUfunction function() const { return function_; }

	// loaded is a hash of the code of all kernels that the program has loaded, in whatever order.
	static std::uint64_t loaded() { return loaded_; }

private:
	static std::uint64_t loaded_;

	CUmodule module_ = nullptr;
	CUfunction function_ = nullptr;
};

struct Dim3 {
	unsigned x = 1, y = 1, z = 1;
};

// Shape is the launch configuration of a kernel.
struct Shape {
	Dim3 grid, block;
	unsigned shared = 0; // dynamic shared memory, bytes
};

inline Shape linear(int blocks, int threads) {
	return {{static_cast<unsigned>(blocks)}, {static_cast<unsigned>(threads)}};
}

inline Shape square(int blocks, int side, unsigned shared = 0) {
	const auto b = static_cast<unsigned>(blocks), s = static_cast<unsigned>(side);
	return {{b, b}, {s, s}, shared};
}

// Launch runs a kernel on a block of parameters, each at its natural alignment.
struct Launch {
	CUfunction function;
	Shape shape;
	std::vector<std::byte> params;
};

struct Copy {
	Block block;
	bool to_device;
};

struct Clear {
	CUdeviceptr dev;
	std::size_t bytes; // a multiple of 4
};

struct Prefetch {
	Block block;
};

// Nothing stands for a copy that the memory mode does without.
struct Nothing {};

using Op = std::variant<Nothing, Launch, Copy, Clear, Prefetch>;

namespace detail {

inline CUdeviceptr parameter(const Block &block) { return block.dev; }
template <class T> std::enable_if_t<std::is_arithmetic_v<T>, T> parameter(T value) { return value; }

template <class T> void append(std::vector<std::byte> &params, T value) {
	params.resize((params.size() + alignof(T) - 1) / alignof(T) * alignof(T) + sizeof(T));
	std::memcpy(params.data() + params.size() - sizeof(T), &value, sizeof(T));
}

} // namespace detail

// launch is a launch with these arguments, whose types are those of the kernel's parameters: an array for
// a pointer, an int for an int.
template <class... Args> Op launch(const Kernel &kernel, const Shape &shape, const Args &...args) {
	Launch l{kernel.function(), shape, {}};
	(detail::append(l.params, detail::parameter(args)), ...);
	return l;
}

// clear sets a block to zero.
inline Op clear(const Block &block) { return Clear{block.dev, block.bytes}; }

// upload brings an array to the device, unless the kernels are to fetch it.
inline Op upload(Memory &memory, const Block &block) {
	memory.travels(block);
	if (!block.managed)
		return Copy{block, true};
	if (memory.mode() == Mode::prefetch)
		return Prefetch{block};
	return Nothing{};
}

// prefetch brings managed memory that the host has written to the device ahead of its use, in the mode of that name.
inline Op prefetch(Memory &memory, const Block &block) {
	if (!block.managed)
		return Nothing{};
	return upload(memory, block);
}

// fetch brings an array to the host.
inline Op fetch(const Block &block) { return Copy{block, false}; }

// download brings an array to the host if it has a twin there.
inline Op download(const Block &block) {
	if (block.managed)
		return Nothing{};
	return fetch(block);
}

// enqueue puts an operation on a stream.
void enqueue(const Device &device, const Op &op, CUstream stream);

// add_node makes an operation a node of a graph. It is no Prefetch, which graphs cannot hold, and not Nothing.
CUgraphNode add_node(const Device &device, CUgraph graph, const std::vector<CUgraphNode> &after, const Op &op);

inline bool is_nothing(const Op &op) { return std::holds_alternative<Nothing>(op); }
inline bool is_prefetch(const Op &op) { return std::holds_alternative<Prefetch>(op); }
inline bool is_copy(const Op &op) { return std::holds_alternative<Copy>(op); }

} // namespace reprise
