//go:build cuda

package simabi

// #include <stdlib.h>
// #include <cuda.h>
// #include "thread.h"
import "C"

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"unsafe"

	"github.com/reprise-gpu/reprise/internal/des"
	"github.com/reprise-gpu/reprise/sim"
)

// driverVersion is what cuDriverGetVersion answers: CUDA 12.4, the first with
// conditional nodes.
const driverVersion = 12040

// gpu is one simulated GPU.
type gpu struct {
	ordinal int
	profile *des.Profile
	sim     *sim.GPU
	sample  int64 // blocks of each launch that are run, 0 for all
	race    sim.Race
	primary primary

	firstPool *pool // the default one; nil until somebody asks
	pool      *pool // that cuMemAllocAsync takes from, nil for the default one
}

// open makes a device for a context of the GPU.
func (g *gpu) open(c *context) (*sim.Device, error) {
	return sim.New(sim.Options{Custom: g.profile, On: g.sim, Sample: g.sample, Race: g.race, Outside: c.outside})
}

// plug reads $REPRISE_SIM, $REPRISE_SIM_SAMPLE and $REPRISE_SIM_RACE.
func plug() ([]*gpu, error) {
	sample, err := sampled(getenv("REPRISE_SIM_SAMPLE"))
	if err != nil {
		return nil, err
	}
	race := sim.RaceOff
	if getenv("REPRISE_SIM_RACE") != "" {
		race = sim.RaceOn
	}
	list := getenv("REPRISE_SIM")
	if list == "" {
		list = "h200"
	}
	driver.system = sim.NewSystem()
	var gpus []*gpu
	for i, id := range strings.Split(list, ",") {
		p, err := des.Lookup(strings.TrimSpace(id))
		if err != nil {
			return nil, fmt.Errorf("REPRISE_SIM=%s: %w", list, err)
		}
		gpus = append(gpus, &gpu{ordinal: i, profile: p, sim: driver.system.GPU(p.MemoryBytes), sample: sample, race: race})
	}
	return gpus, nil
}

// getenv reads the environment as it is: what Go has of it, in a library, is from when the
// program started, without what the program itself has set.
func getenv(name string) string {
	s := C.CString(name)
	defer C.free(unsafe.Pointer(s))
	return C.GoString(C.getenv(s))
}

// sampled is how many blocks of each launch are run, 0 for all: see sim.Options.Sample.
func sampled(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("REPRISE_SIM_SAMPLE=%s: write a number of blocks, 1 or more, or 0 for all", text)
	}
	return n, nil
}

// gpuOf is the GPU of an ordinal.
func gpuOf(d C.CUdevice) (*gpu, error) {
	if d < 0 || int(d) >= len(driver.gpus) {
		return nil, status(C.CUDA_ERROR_INVALID_DEVICE)
	}
	return driver.gpus[d], nil
}

//export sim_cuInit
func sim_cuInit(flags C.uint) C.CUresult {
	if C.simabi_forked != 0 {
		return C.CUDA_ERROR_NOT_INITIALIZED
	}
	driver.mu.Lock()
	defer driver.mu.Unlock()
	if flags != 0 {
		return C.CUDA_ERROR_INVALID_VALUE
	}
	if driver.ready {
		return C.CUDA_SUCCESS
	}
	gpus, err := plug()
	if err != nil {
		fmt.Fprintln(os.Stderr, "libcudasim:", err)
		return C.CUDA_ERROR_NO_DEVICE
	}
	driver.ready, driver.gpus = true, gpus
	return C.CUDA_SUCCESS
}

//export sim_cuDriverGetVersion
func sim_cuDriverGetVersion(version *C.int) C.CUresult {
	if version == nil {
		return C.CUDA_ERROR_INVALID_VALUE
	}
	*version = driverVersion
	return C.CUDA_SUCCESS
}
