//go:build cuda && cgo

package cuda

import (
	"fmt"

	"gorgonia.org/cu"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/lazycuda"
)

// GPUs returns the driver's descriptions of all GPUs, without opening them. If there is none, the error states why.
func GPUs() ([]device.Info, error) {
	n, err := count()
	if err != nil {
		return nil, err
	}
	var list []device.Info
	for i := range n {
		info, err := describeOrdinal(i)
		if err != nil {
			return list, err
		}
		list = append(list, info)
	}
	return list, nil
}

// count returns the number of GPUs. If there is none, the error states why.
func count() (int, error) {
	if why := lazycuda.Problem(); why != "" {
		return 0, &device.Error{Call: "GPUs", Code: device.NoDevice, Detail: why, Err: device.ErrUnavailable}
	}
	if code := device.Code(lazycuda.InitResult()); code != 0 {
		return 0, &device.Error{Call: "GPUs", Code: code, Err: device.ErrUnavailable, Detail: "cuInit of " + lazycuda.Provider() + ": " + textOf(code)}
	}
	n, err := cu.NumDevices()
	if code := codeOf(err); code != 0 {
		return 0, &device.Error{Call: "GPUs", Code: code, Err: device.ErrUnavailable, Detail: "cuDeviceGetCount: " + textOf(code)}
	}
	if n == 0 {
		return 0, &device.Error{Call: "GPUs", Code: device.NoDevice, Detail: "the driver finds no GPU", Err: device.ErrUnavailable}
	}
	return n, nil
}

// describeOrdinal returns the driver's description of a GPU without opening it.
func describeOrdinal(ordinal int) (device.Info, error) {
	n, err := count()
	if err != nil {
		return device.Info{}, err
	}
	if ordinal < 0 || ordinal >= n {
		return device.Info{}, &device.Error{Call: "Open", Code: device.NoDevice, Err: device.ErrUnavailable,
			Detail: fmt.Sprintf("gpu%d: the driver has %d, gpu0 to gpu%d", ordinal, n, n-1)}
	}
	gpu, err := cu.GetDevice(ordinal)
	if err != nil {
		return device.Info{}, unavailable(ordinal, "cuDeviceGet", codeOf(err))
	}
	return describe(ordinal, gpu)
}

// describe reads the attributes of a GPU.
func describe(ordinal int, gpu cu.Device) (info device.Info, err error) {
	info = device.Info{ID: fmt.Sprintf("gpu%d", ordinal), Simulated: simulated()}
	ask := func(a cu.DeviceAttribute, scale int) int {
		v, failed := gpu.Attribute(a)
		if failed != nil && err == nil {
			err = unavailable(ordinal, fmt.Sprintf("cuDeviceGetAttribute(%d)", a), codeOf(failed))
		}
		return v / scale
	}
	info.ComputeMajor, info.ComputeMinor = ask(cu.ComputeCapabilityMajor, 1), ask(cu.ComputeCapabilityMinor, 1)
	info.Multiprocessors = ask(cu.MultiprocessorCount, 1)
	info.ClockMHz = ask(cu.ClockRate, 1000) // the driver's unit is kHz
	info.L2Bytes = int64(ask(cu.L2CacheSize, 1))
	info.MaxThreads = ask(cu.MaxThreadsPerBlock, 1)
	info.MaxShared = ask(maxSharedOptIn, 1)
	// All memory of GPUs makes two transfers per clock.
	info.MemoryGBps = 2 * float64(ask(cu.MemoryClockRate, 1)) * float64(ask(cu.GlobalMemoryBusWidth, 8)) / 1e6
	if err != nil {
		return info, err
	}
	if info.Name, err = gpu.Name(); err == nil {
		info.MemoryBytes, err = gpu.TotalMem()
	}
	if err != nil {
		return info, unavailable(ordinal, "cuDeviceGetName or cuDeviceTotalMem", codeOf(err))
	}
	if info.Simulated {
		info.Name += " (simulated)"
	}
	return info, nil
}

// maxSharedOptIn is CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, for which gorgonia.org/cu has no name.
const maxSharedOptIn cu.DeviceAttribute = 97
