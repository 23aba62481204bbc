#include "driver.hpp"

#include <cstdlib>
#include <sstream>

#include <lazycuda.h>
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

// missing says why there is no device of that ordinal among the driver's.
std::string missing(int ordinal, int count) {
	const std::string other = " (REPRISE_LIBCUDA names another driver, such as build/libcudasim.so)";
	if (*lazycuda_problem() != '\0')
		return std::string("there is no driver: ") + lazycuda_problem() + other;
	std::string text = std::string("the driver ") + lazycuda_provider() + " has ";
	if (count > 0)
		return text + "no device " + std::to_string(ordinal) + ", only " + std::to_string(count);
	const char *why = nullptr;
	if (cuGetErrorName(lazycuda_init_result(), &why) != CUDA_SUCCESS || why == nullptr)
		why = "unknown error";
	return text + "no devices: cuInit: " + why + other;
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
		throw DriverError(missing(ordinal, count));
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

std::string Device::full_name() const {
	char text[256] = "";
	CU(cuDeviceGetName(text, sizeof text, device_));
	return text;
}

std::string Device::name() const {
	if (!simulated_)
		return "gpu" + std::to_string(ordinal_);
	if (const char *machine = std::getenv("REPRISE_SIM_MACHINE"); machine != nullptr && *machine != '\0')
		return std::string("sim:") + machine;
	const char *set = std::getenv("REPRISE_SIM");
	std::istringstream profiles(set != nullptr && *set != '\0' ? set : "h200");
	std::string profile;
	for (int i = 0; i <= ordinal_; i++)
		std::getline(profiles, profile, ',');
	return "sim:" + profile;
}

} // namespace reprise
