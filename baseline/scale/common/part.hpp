// The part of a run that one device has: memory, and a graph for each kind of step.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "ranks.hpp"
#include "stencil.hpp"

namespace reprise::scale {

// Side is a border of a slab.
enum Side { above, below };
inline constexpr std::array<Side, 2> sides = {above, below};
inline Side opposite(Side s) { return s == above ? below : above; }

// Way is how rows pass a border.
enum class Way {
	none,	 // the border of the grid
	direct,	 // a copy from device to device
	staged,	 // through pinned memory
	message, // through pinned memory and MPI
};

class Part;

// Border is a border of a slab. Memory and events are by the parity of steps: a step uses what the step before has left.
struct Border {
	Way way = Way::none;
	Part *neighbour = nullptr; // on this rank
	int rank = -1;			   // of the neighbour, otherwise
	std::array<std::byte *, 2> out{}, in{};
	std::array<CUevent, 2> left{}; // the row of the step has arrived at the neighbour, or in out
};

// Part is a slab on a device.
class Part {
public:
	Part(const Device &device, const Stencil &stencil, Slab slab);
	Part(const Part &) = delete;
	Part &operator=(const Part &) = delete;

	const Slab &slab() const { return slab_; }
	const Border &border(Side s) const { return borders_[s]; }

	// connect connects two parts of this rank, the first of which is above. peers permits copies from device to device.
	static void connect(Part &upper, Part &lower, bool peers);
	// connect connects a border with a rank.
	void connect(Side side, int rank);
	// build makes the graphs, after all borders are connected. norm includes those with a norm.
	void build(bool norm);

	// drop destroys the graphs, which refer to the events of neighbours. It comes before the end of any part.
	void drop();

	// start sets both grids and what borders have received, from whole grids.
	void start(const std::vector<float> &from, const std::vector<float> &to);
	// launch runs the step of a parity: 0 from the first grid to the second, 1 back.
	void launch(int parity, bool norm) { CU(cuGraphLaunch(owned_.graphs[parity][norm], owned_.stream)); }
	// wait_for waits until the row of a step is in the memory of messages.
	void wait_for(Side side, int parity) { CU(cuEventSynchronize(borders_[side].left[static_cast<std::size_t>(parity)])); }
	void synchronize() { CU(cuStreamSynchronize(owned_.stream)); }
	// norm is that of the last step with a norm. Synchronize first.
	double norm() const { return *norm_host_; }
	// read returns the rows of a grid that the slab computes.
	std::vector<float> read(int which) const;

	// messages lists what passes the borders to other ranks in steps of a parity.
	std::vector<Message> messages(int parity) const;

private:
	struct Builder;

	// Owned is what the driver has for a part.
	struct Owned {
		Owned() = default;
		~Owned();
		Owned(const Owned &) = delete;
		Owned &operator=(const Owned &) = delete;

		CUcontext context = nullptr;
		CUstream stream = nullptr;
		CUgraphExec graphs[2][2] = {}; // by parity and norm
		std::vector<CUdeviceptr> memory;
		std::vector<void *> pinned;
		std::vector<CUevent> events;
	};

	void current() const { CU(cuCtxSetCurrent(device_.context())); }
	CUdeviceptr allocate(std::size_t bytes);
	template <class T> T *pinned(std::size_t bytes);
	void open(Side side, Way way);
	bool reaches(const Part &other) const;
	CUgraphExec instantiate(int parity, bool norm);

	const Stencil &stencil_;
	const Device &device_;
	const Slab slab_;
	std::unique_ptr<Kernels> kernels_;
	std::array<Grid, 2> grids_;
	CUdeviceptr partial_ = 0, norm_ = 0;
	double *norm_host_ = nullptr;
	std::array<Border, 2> borders_;
	Owned owned_; // is destroyed first
};

} // namespace reprise::scale
