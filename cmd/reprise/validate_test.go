package main

import (
	"encoding/csv"
	"encoding/json"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/bench/validation"
)

// Every form of the results is of the same rows.
func TestValidateWritesEveryForm(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	const only = "micro/h200/small_"
	stdout, stderr, status := reprise("validate", "--only", only, "-v", "-o", at("x.csv"), "-o", at("x.json")+","+at("x.svg"), "-o", at("x.png"))
	require.Zero(t, status, stderr)
	lines := strings.Split(stdout, "\n")
	assert.Regexp(t, `^row +measured +predicted +ratio`, lines[0])
	assert.Regexp(t, `^micro/h200/small_scale/4096b256 +2\.52 +\d\.\d\d +\d\.\d\d  launch +\w+ +kernel `, lines[1])
	assert.Equal(t, "                       rows geomean   median     mean      p90       p90  worst", lines[13])
	assert.Regexp(t, `^all but launch +4 +\d\.\d\d +\d+% +\d+% +\d+% +\d\.\d\dx  \d\.\d\d micro/h200/small_`, lines[14])
	assert.Contains(t, stdout, "\nby class\n")
	assert.Regexp(t, `(?m)^  launch +8 `, stdout)
	assert.NotContains(t, stdout, "constants fitted", "without --refit")

	text, err := os.ReadFile(at("x.json"))
	require.NoError(t, err)
	var report validation.Report
	require.NoError(t, json.Unmarshal(text, &report))
	assert.Len(t, report.Rows, 12)
	assert.Equal(t, 4, report.All.Rows)
	assert.Zero(t, report.Failed)
	asJSON, _, status := reprise("validate", "--only", only, "--json")
	require.Zero(t, status)
	assert.Equal(t, string(text), asJSON)

	file, err := os.Open(at("x.csv"))
	require.NoError(t, err)
	defer file.Close()
	records, err := csv.NewReader(file).ReadAll()
	require.NoError(t, err)
	require.Len(t, records, 13)
	assert.Equal(t, "id,kernel,class,gpu,measured_us,predicted_us,ratio,limit,note", strings.Join(records[0], ","))
	for i, r := range report.Rows {
		assert.Equal(t, r.ID, records[i+1][0])
		assert.InDelta(t, r.PredictedUS/r.MeasuredUS, r.Ratio, 1e-9)
	}

	drawing, err := os.ReadFile(at("x.svg"))
	require.NoError(t, err)
	words := regexp.MustCompile(`>([^<>\n]+)</text>`).FindAllStringSubmatch(string(drawing), -1)
	var all []string
	for _, w := range words {
		all = append(all, w[1])
	}
	assert.Subset(t, all, []string{"measured us", "predicted us", "bandwidth (4)", "launch (8)"})
	picture, err := os.Open(at("x.png"))
	require.NoError(t, err)
	defer picture.Close()
	_, err = png.Decode(picture)
	assert.NoError(t, err)
}

func TestValidateRecordsRowsThatItPredicts(t *testing.T) {
	dir := t.TempDir()
	mine := filepath.Join(dir, "gpu.json")
	profile, _, status := reprise("profile", "gtx960")
	require.Zero(t, status)
	require.NoError(t, os.WriteFile(mine, []byte(profile), 0o644))
	folder := filepath.Join(dir, "mine")
	stdout, stderr, status := reprise("validate", "--only", "teach/rtx3060/add_rows/1024", "--record", folder, "--device", "sim:"+mine)
	require.Zero(t, status, stderr)
	rows := filepath.Join(folder, "train", "rows.csv")
	assert.Regexp(t, regexp.QuoteMeta(rows)+`: \d+ rows of geforce-gtx-960, 0 left out`, stdout)
	assert.FileExists(t, filepath.Join(folder, "profiles", "gpu.json"))
	assert.FileExists(t, filepath.Join(folder, "ptx", "teach.ptx"))

	stdout, stderr, status = reprise("validate", rows)
	require.Zero(t, status, stderr)
	assert.Regexp(t, `all but launch +\d+ +1\.00 +0% +0% +0% +1\.00x  1\.00 geforce-gtx-960/`, stdout)

	_, stderr, status = reprise("validate", "--record", folder)
	assert.Equal(t, exitInput, status)
	assert.Contains(t, stderr, "exists: name another folder")
}
