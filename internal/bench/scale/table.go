package scale

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// WriteTable prints the records as an aligned table. Times of devices are virtual; those of the host, of planning and of
// verifying are real.
func WriteTable(w io.Writer, records []Record) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "workload\tsize\tranks\tdevices\tus/step\tefficiency\tKB/step\tmessages\thost us\tplan ms\tverify ms\trun\terror\tscheduler us\tgain\t")
	for i := range records {
		r := &records[i]
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%.2f\t%.1f%%\t%.1f\t%.1f\t%.3f\t%.1f\t%.1f\t%s\t%s\t%.1f\t%s\t\n",
			r.Workload, r.Size, r.Ranks, r.Devices, r.StepUS, 100*r.Efficiency, r.Bytes/1e3, r.Messages, r.HostUS, r.PlanMS, r.VerifyMS,
			how(r), verdict(r), r.SchedulerUS, gain(r))
	}
	return t.Flush()
}

// WritePublished prints what the host of a step costs here beside what was published for a dynamic scheduler.
func WritePublished(w io.Writer) error {
	least, most := instructionGraph[0], instructionGraph[len(instructionGraph)-1]
	_, err := fmt.Fprintf(w, "host us: per rank and step, without messages. Celerity's published cost of its instruction graph alone is %.0f to %.0f us\n"+
		"for each task of a step, with %.0f to %.0f devices. scheduler us is a model from the published costs; see docs/SCALING.md.\n",
		least.us, most.us, least.at, most.at)
	return err
}

func how(r *Record) string {
	if r.Executed {
		return "executed"
	}
	return "timed"
}

// verdict returns the greatest error of the results.
func verdict(r *Record) string {
	switch {
	case !r.OK:
		return "WRONG"
	case r.MaxError == nil:
		return "-"
	}
	return fmt.Sprintf("%.1e", *r.MaxError)
}

// leastGain is the gain below which the table states none.
const leastGain = 1.005

// gain returns how much longer a step would take with the dynamic scheduler.
func gain(r *Record) string {
	if r.Gain < leastGain {
		return "none"
	}
	return fmt.Sprintf("%.2f", r.Gain)
}
