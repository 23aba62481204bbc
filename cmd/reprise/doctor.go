package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-gpu/reprise/device"
)

// driverState is the state of the CUDA driver as this process finds it.
type driverState struct {
	Built   bool // this program was built with the tag cuda
	Driver  driverFacts
	GPUs    []device.Info
	Closed  []bool // by GPU: its compute mode is "prohibited"
	Missing string // why there are no GPUs
}

// driverFacts describes the driver library that was found.
type driverFacts struct {
	Library string // "sim", the path of the library that was opened, or ""
	// Simulated is set for "sim" and for libcudasim.so.
	Simulated bool
	Problem   string      // why Library is ""
	Init      device.Code // result of cuInit
	Version   int         // 12040 is CUDA 12.4
}

// usable reports whether at least one GPU can be opened. Other lines of the diagnosis may still show a problem: on
// Tegra the driver needs none of the device files, and one of several GPUs may be closed.
func (s driverState) usable() bool {
	for i := range s.GPUs {
		if i >= len(s.Closed) || !s.Closed[i] {
			return true
		}
	}
	return false
}

// diagnosis is one line of doctor.
type diagnosis struct {
	OK     bool   `json:"ok"`
	What   string `json:"what"` // "driver library"
	Found  string `json:"found"`
	Remedy string `json:"remedy,omitempty"` // what to do if it is not ok
}

func newDoctor() *cobra.Command {
	var path string
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Diagnose the GPU and its driver, and list remedies",
		Long: `Doctor checks everything that the use of a GPU requires, from the kernel module to the
device itself, and prints a line for each. The exit status is 0 if a GPU can be used.
Simulated devices require none of it.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runDoctor(c.OutOrStdout(), path, "/", driver()) },
	}
	jsonFlag(c, &path, "the diagnosis")
	return c
}

func runDoctor(w io.Writer, path, root string, s driverState) error {
	lines := diagnose(root, s)
	if err := writeResults(w, path, lines, func(w io.Writer) error { return writeDiagnosis(w, lines) }); err != nil {
		return err
	}
	if !s.usable() {
		return errors.New("no GPU can be used; simulated devices work without one: see reprise devices")
	}
	return nil
}

func writeDiagnosis(w io.Writer, lines []diagnosis) (err error) {
	for _, d := range lines {
		mark, remedy := "ok     ", ""
		if !d.OK {
			mark = "MISSING"
		}
		if !d.OK && d.Remedy != "" {
			remedy = "; " + d.Remedy
		}
		if _, err = fmt.Fprintf(w, "%s  %s: %s%s\n", mark, d.What, d.Found, remedy); err != nil {
			return err
		}
	}
	return nil
}

// diagnose examines the machine whose files are below root. If the driver is the simulator, it does not examine the
// kernel module and the device files.
func diagnose(root string, s driverState) []diagnosis {
	lines := []diagnosis{{OK: s.Built, What: "build", Found: "with the CUDA driver"}}
	if !s.Built {
		lines[0].Found = "this one only simulates"
		lines[0].Remedy = "run `make build` in a clone, which needs a C compiler"
	}
	if !s.Driver.Simulated {
		lines = append(lines, kernelModule(root), deviceFiles(root))
	}
	if !s.Built {
		return lines
	}
	lines = append(lines, library(s.Driver))
	if s.Driver.Library == "" {
		return lines
	}
	lines = append(lines, initialized(s.Driver))
	if s.Driver.Init == 0 {
		lines = append(lines, gpuLines(s)...)
	}
	return lines
}

// kernelModule examines the driver's kernel module.
func kernelModule(root string) diagnosis {
	d := diagnosis{What: "kernel module"}
	text, err := os.ReadFile(filepath.Join(root, "proc/driver/nvidia/version"))
	switch {
	case err == nil:
		first, _, _ := strings.Cut(string(text), "\n")
		d.OK, d.Found = true, strings.Join(strings.Fields(strings.TrimPrefix(first, "NVRM version:")), " ")
	case exists(root, "dev/dxg"):
		d.OK, d.Found = true, "of Windows, through /dev/dxg (WSL)"
	case container(root):
		d.Found = "not visible in this container"
		d.Remedy = "start it with the NVIDIA container toolkit, docker run --gpus all"
	default:
		d.Found = "not loaded: there is no /proc/driver/nvidia/version"
		d.Remedy = "install NVIDIA's driver for the GPU, or load it with modprobe nvidia"
	}
	return d
}

// deviceFiles examines the files in /dev through which programs reach the kernel module.
func deviceFiles(root string) diagnosis {
	d := diagnosis{What: "device files"}
	if exists(root, "dev/dxg") {
		d.OK, d.Found = true, "/dev/dxg"
		return d
	}
	gpus, _ := filepath.Glob(filepath.Join(root, "dev/nvidia[0-9]*"))
	if len(gpus) == 0 {
		d.Found = "there is no /dev/nvidia0"
		d.Remedy = "run nvidia-modprobe -u -c 0 as root; in a container, start it with --gpus all"
		return d
	}
	for _, path := range append([]string{filepath.Join(root, "dev/nvidiactl")}, gpus...) {
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			name := "/" + strings.TrimPrefix(strings.TrimPrefix(path, root), "/")
			d.Found = fmt.Sprintf("%s cannot be opened: %v", name, errors.Unwrap(err))
			d.Remedy = "run nvidia-modprobe -u -c 0 as root"
			if errors.Is(err, fs.ErrPermission) {
				d.Remedy = "let an administrator give this user read and write permission, or add the user to the file's group"
			}
			return d
		}
		_ = f.Close()
	}
	d.OK, d.Found = true, fmt.Sprintf("%d GPUs, and this user may open their files", len(gpus))
	return d
}

// library describes the libcuda that receives the calls.
func library(f driverFacts) diagnosis {
	d := diagnosis{OK: f.Library != "", What: "driver library", Found: f.Library}
	switch {
	case f.Library == "sim":
		d.Found = "the simulator in this program (REPRISE_LIBCUDA=sim)"
	case f.Simulated:
		d.Found += ", a simulator"
	case !d.OK:
		d.Found = f.Problem
		d.Remedy = "install NVIDIA's driver, which contains libcuda.so.1, or name the library in REPRISE_LIBCUDA"
		if named := os.Getenv("REPRISE_LIBCUDA"); named != "" {
			d.Remedy = "REPRISE_LIBCUDA is " + named + ": unset it to use NVIDIA's driver, or set it to the path of a driver library"
		}
	}
	return d
}

// remedies maps results of cuInit to what the user can do. Codes 802 to 804 are CUDA_ERROR_SYSTEM_NOT_READY,
// _SYSTEM_DRIVER_MISMATCH and _COMPAT_NOT_SUPPORTED_ON_DEVICE.
var remedies = map[device.Code]string{
	device.NoDevice:          "the library was loaded and finds no GPU: see the lines above, and CUDA_VISIBLE_DEVICES",
	device.DeviceUnavailable: "another process uses the GPU exclusively: see nvidia-smi",
	802:                      "start the fabric manager: systemctl start nvidia-fabricmanager",
	803:                      "the library and the kernel module are of different releases: reboot, or reinstall the driver",
	804:                      "the compatibility library does not support this GPU: remove cuda-compat from LD_LIBRARY_PATH",
	device.Unknown:           "reload the kernel module: rmmod nvidia_uvm && modprobe nvidia_uvm, or reboot",
}

func initialized(f driverFacts) diagnosis {
	d := diagnosis{OK: f.Init == 0, What: "cuInit", Found: fmt.Sprintf("CUDA %d.%d", f.Version/1000, f.Version%1000/10)}
	if !d.OK {
		d.Found = fmt.Sprintf("%v (%d)", f.Init, int(f.Init))
		d.Remedy = remedies[f.Init]
	}
	return d
}

// gpuLines returns a line for each GPU: whether it can be opened.
func gpuLines(s driverState) []diagnosis {
	if len(s.GPUs) == 0 {
		return []diagnosis{{What: "GPUs", Found: s.Missing, Remedy: "see CUDA_VISIBLE_DEVICES and nvidia-smi -L"}}
	}
	var lines []diagnosis
	for i, g := range s.GPUs {
		d := diagnosis{OK: true, What: g.ID, Found: fmt.Sprintf("%s, compute %d.%d, %.0f GB", g.Name, g.ComputeMajor, g.ComputeMinor, float64(g.MemoryBytes)/1e9)}
		if i < len(s.Closed) && s.Closed[i] {
			d.OK, d.Found = false, d.Found+", in compute mode \"prohibited\""
			d.Remedy = fmt.Sprintf("run nvidia-smi -i %d -c 0 as root", i)
		}
		lines = append(lines, d)
	}
	return lines
}

func exists(root, path string) bool {
	_, err := os.Stat(filepath.Join(root, path))
	return err == nil
}

// container reports whether this is a container, by the marker files of Docker and Podman.
func container(root string) bool {
	return exists(root, ".dockerenv") || exists(root, "run/.containerenv")
}
