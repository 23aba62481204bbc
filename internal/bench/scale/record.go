package scale

// Record is one row: a workload on a number of devices of a machine. A step is one of the method; a replay of the traced
// graph may have several.
type Record struct {
	Workload string `json:"workload"`
	Size     string `json:"size"`
	Machine  string `json:"machine"`
	Ranks    int    `json:"ranks"`
	Devices  int    `json:"devices"`
	Tiles    bool   `json:"tiles,omitempty"` // launches are cut along two axes
	// StepUS is the virtual time of a step in the steady state: the difference of two runs of different lengths.
	StepUS float64 `json:"us_per_step"`
	// Efficiency is relative to the row with the fewest devices: the devices x time of that row over those of this one.
	Efficiency float64 `json:"efficiency"`
	// HostUS is the real time for which the host of a rank is busy in a step, on a device that runs nothing. Messages
	// are not included.
	HostUS   float64 `json:"host_us_per_step"`
	PlanMS   float64 `json:"plan_ms"`   // least real time of making the plan
	VerifyMS float64 `json:"verify_ms"` // real time of verifying it
	// Bytes and Messages are those of a step in the steady state: messages between ranks, and copies between devices.
	Bytes    float64  `json:"bytes_sent"`
	Messages float64  `json:"messages"`
	Memory   int64    `json:"memory_bytes"` // of the device that needs most, allocated once, before the first step
	Executed bool     `json:"executed"`
	MaxError *float64 `json:"max_error"` // of the results, relative to their greatest magnitude; null if not executed
	OK       bool     `json:"ok"`        // the plan is verified and, if executed, the results are those of the reference
	Error    string   `json:"error,omitempty"`

	Steps       int     `json:"steps_per_replay"`
	Tasks       float64 `json:"tasks_per_step"`              // launches in the program, before it is distributed
	SchedulerUS float64 `json:"scheduler_us_per_step"`       // of a dynamic scheduler; see Scheduler
	DynamicUS   float64 `json:"dynamic_us_per_step"`         // the greater of StepUS and SchedulerUS
	Gain        float64 `json:"gain_over_dynamic_scheduler"` // DynamicUS over StepUS
}
