#include "driver.hpp"

#include <cstdlib>
#include <sstream>

#include <reprise.h>

namespace reprise {
namespace {

// function is the name of what is called in "cuFunction(argument)".
std::string function(const std::string &call) { return call.substr(0, call.find('(')); }

// detail is what the simulator has to say about the call that failed last.
std::string detail() {
	repriseError e;
	if (repriseLastError(&e) != CUDA_SUCCESS)
		return "";
	std::ostringstream text;
	if (e.kernel[0] != '\0')
		text << ": kernel " << e.kernel << ", block (" << e.block[0] << "," << e.block[1] << "," << e.block[2] << "), thread ("
			 << e.thread[0] << "," << e.thread[1] << "," << e.thread[2] << "), " << e.file << ":" << e.line << ": " << e.reason;
	else if (e.detail[0] != '\0')
		text << ": " << e.detail;
	return text.str();
}

} // namespace

void must(CUresult result, const char *call) {
	if (result == CUDA_SUCCESS)
		return;
	const char *name = nullptr;
	if (cuGetErrorName(result, &name) != CUDA_SUCCESS || name == nullptr)
		name = "unknown error";
	throw DriverError(function(call) + ": " + name + " (" + std::to_string(result) + ")" + detail());
}

Device::Device(int ordinal) : ordinal_(ordinal) {
	CU(cuInit(0));
	int count = 0;
	CU(cuDeviceGetCount(&count));
	if (ordinal >= count)
		throw DriverError("there is no device " + std::to_string(ordinal) + ": the driver knows " + std::to_string(count) +
						  " (REPRISE_LIBCUDA names another driver, such as libcudasim.so)");
	CU(cuDeviceGet(&device_, ordinal));
	CU(cuDevicePrimaryCtxRetain(&context_, device_));
	CU(cuCtxSetCurrent(context_));
	repriseError e;
	simulated_ = repriseLastError(&e) == CUDA_SUCCESS;
}

Device::~Device() { cuDevicePrimaryCtxRelease(device_); }

int Device::attribute(CUdevice_attribute which) const {
	int value = 0;
	CU(cuDeviceGetAttribute(&value, which, device_));
	return value;
}

std::string Device::name() const {
	if (!simulated_)
		return "gpu" + std::to_string(ordinal_);
	const char *set = std::getenv("REPRISE_SIM");
	std::istringstream profiles(set != nullptr && *set != '\0' ? set : "h200");
	std::string profile;
	for (int i = 0; i <= ordinal_; i++)
		std::getline(profiles, profile, ',');
	return "sim:" + profile;
}

} // namespace reprise
