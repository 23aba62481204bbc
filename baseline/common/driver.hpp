// Calls of the driver, and what a device is to a program.
#pragma once

#include <cuda.h>

#include <stdexcept>
#include <string>

namespace reprise {

// DriverError is a call that failed.
struct DriverError : std::runtime_error {
	using std::runtime_error::runtime_error;
};

// must throws a DriverError unless the call succeeded.
void must(CUresult result, const char *call);

// CU makes a call that has to succeed.
#define CU(call) ::reprise::must((call), #call)

// Device is a GPU with its primary context current, until it is destroyed.
class Device {
public:
	explicit Device(int ordinal);
	~Device();
	Device(const Device &) = delete;
	Device &operator=(const Device &) = delete;

	CUdevice handle() const { return device_; }
	CUcontext context() const { return context_; }
	int multiprocessors() const { return attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT); }
	// faults is whether kernels fault in managed memory page by page, as they do from compute capability 6.0 on;
	// before that it cannot be prefetched either.
	bool faults() const { return attribute(CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS) != 0; }
	bool simulated() const { return simulated_; }

	// name is what Go's --device calls it: gpu0, or sim:h200 of the simulator, or sim:h200-4 for the devices of a machine.
	std::string name() const;
	// full_name is what the driver calls it.
	std::string full_name() const;

private:
	int attribute(CUdevice_attribute which) const;

	CUdevice device_ = 0;
	CUcontext context_ = nullptr;
	int ordinal_;
	bool simulated_ = false;
};

} // namespace reprise
