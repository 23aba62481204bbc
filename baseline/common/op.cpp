#include "op.hpp"

namespace reprise {
namespace {

template <class... F> struct Overloaded : F... {
	using F::operator()...;
};
template <class... F> Overloaded(F...) -> Overloaded<F...>;

// Extra is the list by which the driver takes a packed block of parameters.
class Extra {
public:
	explicit Extra(const Launch &l)
		: bytes_(l.params.size()), list_{CU_LAUNCH_PARAM_BUFFER_POINTER, const_cast<std::byte *>(l.params.data()),
										 CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes_, CU_LAUNCH_PARAM_END} {}
	Extra(const Extra &) = delete;
	Extra &operator=(const Extra &) = delete;

	void **list() { return list_; }

private:
	std::size_t bytes_;
	void *list_[5];
};

CUDA_KERNEL_NODE_PARAMS node_params(const Launch &l, Extra &extra) {
	const auto &[grid, block, shared] = l.shape;
	CUDA_KERNEL_NODE_PARAMS p{};
	p.func = l.function;
	p.gridDimX = grid.x, p.gridDimY = grid.y, p.gridDimZ = grid.z;
	p.blockDimX = block.x, p.blockDimY = block.y, p.blockDimZ = block.z;
	p.sharedMemBytes = shared;
	p.extra = extra.list();
	return p;
}

CUDA_MEMCPY3D node_params(const Copy &c) {
	CUDA_MEMCPY3D p{};
	p.WidthInBytes = c.block.bytes, p.Height = 1, p.Depth = 1;
	p.srcMemoryType = c.to_device ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
	p.dstMemoryType = c.to_device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
	(c.to_device ? p.dstDevice : p.srcDevice) = c.block.dev;
	if (c.to_device)
		p.srcHost = c.block.host;
	else
		p.dstHost = c.block.host;
	return p;
}

CUDA_MEMSET_NODE_PARAMS node_params(const Clear &c) {
	CUDA_MEMSET_NODE_PARAMS p{};
	p.dst = c.dev, p.elementSize = 4, p.width = c.bytes / 4, p.height = 1;
	return p;
}

} // namespace

std::uint64_t Kernel::loaded_ = 0;

Kernel::Kernel(const char *ptx, const char *entry) {
	loaded_ += hash(0, ptx, std::strlen(ptx));
	CU(cuModuleLoadData(&module_, ptx));
	CU(cuModuleGetFunction(&function_, module_, entry));
}

Kernel::~Kernel() { cuModuleUnload(module_); }

void enqueue(const Device &device, const Op &op, CUstream stream) {
	std::visit(Overloaded{
				   [](const Nothing &) {},
				   [&](const Launch &l) {
					   Extra extra(l);
					   const auto &[grid, block, shared] = l.shape;
					   CU(cuLaunchKernel(l.function, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared, stream, nullptr, extra.list()));
				   },
				   [&](const Copy &c) {
					   if (c.to_device)
						   CU(cuMemcpyHtoDAsync(c.block.dev, c.block.host, c.block.bytes, stream));
					   else
						   CU(cuMemcpyDtoHAsync(c.block.host, c.block.dev, c.block.bytes, stream));
				   },
				   [&](const Clear &c) { CU(cuMemsetD32Async(c.dev, 0, c.bytes / 4, stream)); },
				   [&](const Prefetch &p) { CU(cuMemPrefetchAsync(p.block.dev, p.block.bytes, device.handle(), stream)); },
			   },
			   op);
}

CUgraphNode add_node(const Device &device, CUgraph graph, const std::vector<CUgraphNode> &after, const Op &op) {
	CUgraphNode node = nullptr;
	if (const auto *l = std::get_if<Launch>(&op)) {
		Extra extra(*l);
		const auto params = node_params(*l, extra);
		CU(cuGraphAddKernelNode(&node, graph, after.data(), after.size(), &params));
	} else if (const auto *c = std::get_if<Copy>(&op)) {
		const auto params = node_params(*c);
		CU(cuGraphAddMemcpyNode(&node, graph, after.data(), after.size(), &params, device.context()));
	} else if (const auto *s = std::get_if<Clear>(&op)) {
		const auto params = node_params(*s);
		CU(cuGraphAddMemsetNode(&node, graph, after.data(), after.size(), &params, device.context()));
	} else {
		throw std::logic_error("BUG: a graph cannot hold this operation");
	}
	return node;
}

} // namespace reprise
