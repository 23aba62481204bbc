package importer_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/importer"
	"github.com/reprise-gpu/reprise/ir"
)

// wfVersions holds one workflow in every version of the format, with the fields of the version's schema.
var wfVersions = map[string]string{
	"1.0": `{"name": "w", "schemaVersion": "1.0", "wms": {"name": "Pegasus", "version": "4.9"}, "workflow": {
		"makespan": 9, "executedAt": "20200101T000000Z",
		"machines": [{"system": "linux", "nodeName": "m", "cpu": {"count": 4, "speed": 1200}}],
		"jobs": [
		{"name": "split_ID0000001", "type": "compute", "runtime": 1.5, "parents": [], "arguments": ["-n", "2"],
			"files": [{"name": "all", "size": 1, "link": "input"}], "cores": 1, "machine": "m"},
		{"name": "work_ID0000002", "type": "compute", "runtime": 2, "parents": ["split_ID0000001"], "files": []},
		{"name": "join_ID0000003", "type": "transfer", "runtime": 0, "parents": ["split_ID0000001", "work_ID0000002"]}]}}`,
	"1.2": `{"name": "w", "schemaVersion": "1.2", "workflow": {"executedAt": "2020-12-25T20:10:08+00:00", "makespan": 9, "jobs": [
		{"name": "split_ID0000001", "type": "compute", "runtime": 1.5, "parents": [], "children": ["work_ID0000002", "join_ID0000003"],
			"files": [], "cores": 1, "avgCPU": 94.8, "bytesRead": 1, "memory": 3000, "machine": "m", "id": "ID0000001", "category": "split",
			"command": {"program": "split", "arguments": ["-n"]}},
		{"name": "work_ID0000002", "runtime": 2, "parents": ["split_ID0000001"], "children": ["join_ID0000003"], "id": "ID0000002"},
		{"name": "join_ID0000003", "runtime": 0, "parents": ["split_ID0000001", "work_ID0000002"], "children": [], "id": "ID0000003"}]}}`,
	"1.3": `{"schemaVersion": "1.3", "workflow": {"makespan": 9, "tasks": [
		{"name": "split_ID0000001", "type": "compute", "runtime": 1.5, "id": "ID0000001"},
		{"name": "work_ID0000002", "runtime": 2, "parents": ["split_ID0000001"], "id": "ID0000002"},
		{"name": "join_ID0000003", "runtime": 0, "parents": ["split_ID0000001", "work_ID0000002"], "id": "ID0000003"}]}}`,
	"1.4, children alone": `{"schemaVersion": "1.4", "workflow": {"makespanInSeconds": 9, "tasks": [
		{"name": "split_ID0000001", "runtimeInSeconds": 1.5, "id": "ID0000001", "children": ["work_ID0000002", "join_ID0000003"], "memoryInBytes": 3},
		{"name": "work_ID0000002", "runtimeInSeconds": 2, "id": "ID0000002", "children": ["join_ID0000003"]},
		{"name": "join_ID0000003", "runtimeInSeconds": 0, "id": "ID0000003", "children": []}]}}`,
	"1.4, files alone": `{"schemaVersion": "1.4", "workflow": {"tasks": [
		{"name": "split_ID0000001", "runtimeInSeconds": 1.5, "files": [
			{"link": "input", "name": "all", "sizeInBytes": 4}, {"link": "output", "name": "part", "path": "/tmp/", "sizeInBytes": 2}]},
		{"name": "work_ID0000002", "runtimeInSeconds": 2, "files": [{"link": "input", "path": "/tmp/", "name": "part"}, {"link": "output", "name": "result"}]},
		{"name": "join_ID0000003", "runtimeInSeconds": 0, "files": [{"link": "input", "name": "result"}, {"link": "input", "path": "/tmp/", "name": "part"}]}]}}`,
	"1.5": `{"name": "w", "schemaVersion": "1.5", "runtimeSystem": {"name": "Nextflow", "version": "24"}, "workflow": {
		"specification": {"tasks": [
			{"name": "split_ID0000001", "id": "1", "parents": [], "children": ["2", "3"], "inputFiles": ["all"], "outputFiles": ["part"]},
			{"name": "work_ID0000002", "id": "2", "parents": ["1"], "children": ["3"]},
			{"name": "join_ID0000003", "id": "3", "parents": ["1", "2"], "children": []}],
			"files": [{"id": "all", "sizeInBytes": 4}]},
		"execution": {"makespanInSeconds": 9, "executedAt": "x", "tasks": [
			{"id": "3", "runtimeInSeconds": 0, "coreCount": 1}, {"id": "1", "runtimeInSeconds": 1.5, "machines": ["m"]}, {"id": "2", "runtimeInSeconds": 2}],
			"machines": [{"nodeName": "m", "cpu": {"coreCount": 4, "speedInMHz": 1200}}]}}}`,
	"1.6, files alone": `{"schemaVersion": "1.6", "workflow": {
		"specification": {"tasks": [
			{"name": "split_ID0000001", "id": "1", "parents": [], "children": [], "inputFiles": ["all"], "outputFiles": ["part"]},
			{"name": "work_ID0000002", "id": "2", "parents": [], "children": [], "inputFiles": ["part"], "outputFiles": ["result"]},
			{"name": "join_ID0000003", "id": "3", "parents": [], "children": [], "inputFiles": ["result", "part"]}]},
		"execution": {"metrics": {}, "tasks": [
			{"id": "1", "runtimeInSeconds": 1.5}, {"id": "2", "runtimeInSeconds": 2}, {"id": "3", "runtimeInSeconds": 0}]}}}`,
}

func TestWfCommonsVersionsAgree(t *testing.T) {
	for version, src := range wfVersions {
		g, err := importer.Read("w.json", src, importer.Options{})
		require.NoError(t, err, version)
		assert.Equal(t, `graph w {
  %0 = empty cost(1500000000ns) label("split_ID0000001")
  %1 = empty after(%0) cost(2000000000ns) label("work_ID0000002")
  %2 = empty after(%0, %1) cost(0ns) label("join_ID0000003")
}
`, ir.Print(g), version)
	}
}
