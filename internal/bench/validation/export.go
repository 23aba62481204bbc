package validation

import (
	"bytes"
	"encoding/csv"
	"fmt"
)

// Prediction is a Result as JSON.
type Prediction struct {
	ID          string  `json:"id"`
	Set         string  `json:"set"`
	Kernel      string  `json:"kernel"`
	Class       string  `json:"class"`
	GPU         string  `json:"gpu"`
	Mode        string  `json:"mode"`
	MeasuredUS  float64 `json:"measured_us"`
	PredictedUS float64 `json:"predicted_us,omitempty"`
	Ratio       float64 `json:"ratio,omitempty"`
	Limit       string  `json:"limit,omitempty"`
	Error       string  `json:"error,omitempty"`
}

// Report is a run as JSON.
type Report struct {
	*Summary
	Failed int          `json:"failed"` // number of rows with an error
	Rows   []Prediction `json:"rows"`
}

// NewReport returns the report of results and their summary.
func NewReport(results []Result, s *Summary) *Report {
	rep := &Report{Summary: s, Rows: []Prediction{}}
	for i := range results {
		p := results[i].prediction()
		if p.Error != "" {
			rep.Failed++
		}
		rep.Rows = append(rep.Rows, p)
	}
	return rep
}

func (r *Result) prediction() Prediction {
	p := Prediction{
		ID: r.Row.ID, Set: r.Row.Set, Kernel: r.Row.Kernel, Class: r.Row.Class, GPU: r.Row.GPU, Mode: r.Row.Mode.String(), MeasuredUS: r.Row.MeasuredUS,
	}
	if r.Err != nil {
		p.Error = r.Err.Error()
		return p
	}
	p.PredictedUS, p.Ratio, p.Limit = r.PredictedUS, r.Ratio(), r.Limit
	return p
}

// Table returns the predictions as CSV. Rows that failed are left out.
func Table(results []Result) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write([]string{"id", "kernel", "class", "gpu", "measured_us", "predicted_us", "ratio", "limit", "note"}) // cannot fail: memory
	for i := range results {
		if r := &results[i]; r.Err == nil {
			_ = w.Write([]string{
				r.Row.ID, r.Row.Kernel, r.Row.Class, r.Row.GPU, fmt.Sprintf("%.4g", r.Row.MeasuredUS), fmt.Sprintf("%.4g", r.PredictedUS),
				fmt.Sprintf("%.3f", r.Ratio()), r.Limit, r.Detail,
			})
		}
	}
	w.Flush()
	return b.Bytes()
}
