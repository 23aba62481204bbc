#include "memory.hpp"

#include <cstring>

namespace reprise {
namespace {

constexpr unsigned char poisoned = 0xff;

std::logic_error misfit(const Block &to, std::size_t bytes) {
	return std::logic_error("BUG: " + std::to_string(bytes) + " bytes are written to an array of " + std::to_string(to.bytes));
}

} // namespace

Memory::Memory(const Device &device, Mode mode) : device_(device), mode_(mode) {
	if (mode == Mode::prefetch && !device.faults())
		throw std::runtime_error(device.name() + " cannot prefetch: use --memory managed or pinned");
	CU(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
}

Memory::~Memory() {
	for (const auto p : allocated_)
		cuMemFree(p);
	for (const auto p : pinned_)
		cuMemFreeHost(p);
	cuStreamDestroy(stream_);
}

Block Memory::allocate(std::size_t bytes) {
	Block block;
	block.bytes = bytes;
	CU(cuMemAlloc(&block.dev, bytes));
	allocated_.push_back(block.dev);
	bytes_ += bytes;
	return block;
}

Block Memory::twin(Block block) {
	void *host = nullptr;
	CU(cuMemAllocHost(&host, block.bytes));
	pinned_.push_back(host);
	block.host = static_cast<std::byte *>(host);
	return block;
}

Block Memory::manage(std::size_t bytes) {
	Block block;
	block.bytes = bytes;
	block.managed = true;
	CU(cuMemAllocManaged(&block.dev, bytes, CU_MEM_ATTACH_GLOBAL));
	allocated_.push_back(block.dev);
	bytes_ += bytes;
	block.host = reinterpret_cast<std::byte *>(block.dev);
	return block;
}

void Memory::write(const Block &to, const void *data, std::size_t bytes) {
	if (bytes > to.bytes)
		throw misfit(to, bytes);
	home(to);
	if (to.managed)
		std::memcpy(to.host, data, bytes);
	else
		CU(cuMemcpyHtoD(to.dev, data, bytes));
}

void Memory::refill(const Block &to, const void *data, std::size_t bytes) {
	if (bytes != to.bytes)
		throw misfit(to, bytes);
	home(to);
	std::memcpy(to.host, data, bytes);
	if (to.managed)
		return;
	poison_device(to);
	CU(cuStreamSynchronize(stream_)); // or it could come after the iteration's own copy
}

void Memory::fetch(void *data, const Block &from) {
	home(from);
	if (from.managed)
		std::memcpy(data, from.host, from.bytes);
	else
		CU(cuMemcpyDtoH(data, from.dev, from.bytes));
}

void Memory::poison(const std::vector<Block> &blocks) {
	for (const auto &block : blocks) {
		if (block.managed && device_.faults())
			prefetch(block, device_.handle());
		if (!block.managed && block.host != nullptr)
			std::memset(block.host, poisoned, block.bytes);
		poison_device(block);
	}
	CU(cuStreamSynchronize(stream_));
}

void Memory::poison_home(const Block &block) {
	if (!block.managed)
		return poison({block});
	home(block);
	std::memset(block.host, poisoned, block.bytes);
}

void Memory::poison_device(const Block &block) { CU(cuMemsetD8Async(block.dev, poisoned, block.bytes, stream_)); }

void Memory::send_home() {
	for (const auto &block : travellers_)
		home(block);
}

void Memory::home(const Block &block) {
	if (!block.managed)
		return;
	if (device_.faults()) {
		prefetch(block, CU_DEVICE_CPU);
	} else { // a GPU that cannot prefetch is told that the host will use the memory, and then that kernels may again
		CU(cuStreamAttachMemAsync(stream_, block.dev, 0, CU_MEM_ATTACH_HOST));
		CU(cuStreamSynchronize(stream_));
		CU(cuStreamAttachMemAsync(stream_, block.dev, 0, CU_MEM_ATTACH_GLOBAL));
	}
	CU(cuStreamSynchronize(stream_));
}

void Memory::prefetch(const Block &block, CUdevice where) { CU(cuMemPrefetchAsync(block.dev, block.bytes, where, stream_)); }

} // namespace reprise
