package machine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/machine"
)

func TestBuiltInMachines(t *testing.T) {
	want := map[string]string{
		"a100-32x4": "32 ranks x 4 devices", "h200-128x8": "128 ranks x 8 devices",
		"h200-4": "1 rank x 4 devices", "rtx4090-4": "1 rank x 4 devices",
	}
	require.Len(t, machine.Names(), len(want))
	for name, size := range want {
		m, err := machine.Lookup(name)
		require.NoError(t, err)
		assert.Equal(t, name+": "+size, m.String())
		for i := range m.Ranks {
			assert.Equal(t, i, m.Ranks[i].Node)
		}
	}
	_, err := machine.Lookup("cray-1")
	assert.EqualError(t, err, `no machine is called "cray-1"; known machines: a100-32x4, h200-128x8, h200-4, rtx4090-4; or RANKSxDEVICES:PROFILE, such as 2x4:a100, or the path of a file that ends in .json`)
	_, err = machine.Lookup("no/such.json")
	assert.ErrorContains(t, err, "cannot read the machine no/such.json")
}

func TestPaths(t *testing.T) {
	a100, err := machine.Lookup("a100-32x4")
	require.NoError(t, err)
	r := &a100.Ranks[31]
	assert.Equal(t, machine.NVLink, r.Path(0, 3).Kind)
	assert.Equal(t, 84.0, r.CopyGBps(0, 3), "one of three pairs")
	assert.Nil(t, r.Path(2, 2))
	geforce, err := machine.Lookup("rtx4090-4")
	require.NoError(t, err)
	assert.Nil(t, geforce.Ranks[0].Path(0, 1), "GeForce devices are not peers")
	assert.Zero(t, geforce.Ranks[0].CopyGBps(0, 1))
	assert.Equal(t, "switch", geforce.Ranks[0].Links[1].Kind.String())
}

func TestUniform(t *testing.T) {
	m, err := machine.Uniform(2, 3, "v100")
	require.NoError(t, err)
	assert.Equal(t, "2x3 v100: 2 ranks x 3 devices", m.String())
	assert.Equal(t, 6, m.Devices())
	assert.Equal(t, 376.0, m.Ranks[1].CopyGBps(2, 0))
	assert.Equal(t, &m.Network, m.Between(0, 1))
	assert.Equal(t, m.Ranks[0].Devices[0].Profile.MemoryBytes, m.Ranks[0].Devices[0].Memory)
	_, err = machine.Uniform(0, 1, "v100")
	assert.ErrorContains(t, err, "both must be at least 1")
	_, err = machine.Uniform(65537, 1, "v100")
	assert.ErrorContains(t, err, "at most 65536 ranks and 1024 devices of a rank")
	_, err = machine.Uniform(1, 1025, "v100")
	assert.ErrorContains(t, err, "at most 65536 ranks and 1024 devices of a rank")
	_, err = machine.Uniform(1, 1, "v99")
	assert.ErrorContains(t, err, `no device profile is called "v99"`)
}

// Uniform has the figures of a file, whose sources it names.
func TestUniformHasTheFiguresOfItsSource(t *testing.T) {
	want, err := machine.Lookup("h200-128x8")
	require.NoError(t, err)
	got, err := machine.Uniform(128, 8, "h200")
	require.NoError(t, err)
	assert.Equal(t, want.Network, got.Network)
	assert.Equal(t, want.Shared, got.Shared)
	assert.Equal(t, want.Ranks[127].Links, got.Ranks[127].Links)
	assert.Equal(t, want.Ranks[127].Node, got.Ranks[127].Node)
}

const (
	head    = `{"format": "reprise-machine", "version": 1, `
	est     = `, "from": "estimate"}`
	devices = `"devices": [{"count": 2, "profile": "v100"}]`
)

func TestFileWithDefaults(t *testing.T) {
	m, err := machine.ParseFile("m.json", []byte(head+`"ranks_per_node": 2, "ranks": [
		{"count": 3, `+devices+`, "links": [
			{"kind": "switch", "gbps": {"value": 12`+est+`, "latency_us": {"value": 2.5`+est+`},
			{"kind": "nvlink", "gbps": {"value": 100`+est+`, "latency_us": {"value": 2`+est+`}
		]},
		{"devices": [{"profile": "h200", "memory_bytes": {"value": 1024`+est+`}, {"profile": "v100", "weight": {"value": 0.5`+est+`}], "host_memory_bytes": {"value": 4096`+est+`}
	]}`))
	require.NoError(t, err)
	assert.Equal(t, "m.json: 4 ranks x 2 devices", m.String())
	var nodes []int
	for _, r := range m.Ranks {
		nodes = append(nodes, r.Node)
	}
	assert.Equal(t, []int{0, 0, 1, 1}, nodes)
	first := m.Ranks[0].Path(0, 1)
	assert.Equal(t, machine.Link{Kind: machine.Switch, Devices: []int{0, 1}, GBps: 12, Latency: 2500 * model.Nanosecond, Peers: true}, *first)
	assert.Equal(t, 12.5, m.Ranks[0].CopyGBps(0, 1), "the host links of a v100")
	assert.EqualValues(t, 1024, m.Ranks[3].Devices[0].Memory)
	assert.Equal(t, 0.5, m.Ranks[3].Devices[1].Weight)
	assert.Zero(t, m.Ranks[3].Devices[0].Weight)
	assert.EqualValues(t, 4096, m.Ranks[3].Host)
	assert.Zero(t, m.Ranks[0].Host)
	assert.Same(t, m.Ranks[0].Devices[1].Profile, m.Ranks[3].Devices[1].Profile)
	assert.Equal(t, &m.Shared, m.Between(0, 1))
	assert.Equal(t, &m.Network, m.Between(1, 2))
	assert.Equal(t, 50.0, m.Network.GBps)
}

func TestErrorsOfFiles(t *testing.T) {
	link := func(s string) string { return head + `"ranks": [{` + devices + `, "links": [{` + s + `}]}]}` }
	for text, want := range map[string]string{
		`{"format": "reprise-profile"`:                                            `m.json:1: the format is "reprise-profile"; the format of a machine is "reprise-machine"`,
		`{"format": "reprise-machine", "version": 2`:                              `version 2; this release reads version 1`,
		head + `"ranks": [{` + devices + `}]} 1`:                                  "there is text after the end of the machine; remove it",
		head + `"ranks": [{` + devices + `}`:                                      "not JSON: the text ends too early",
		head + `"ranks": []}`:                                                     `"ranks" is empty`,
		head + `"ranks": {}}`:                                                     "ranks is {; it must be a list, [...]",
		head + `"ranks": [{"count": 2}]}`:                                         `ranks[0] has no "devices"`,
		head + `"ranks": [{"devices": []}]}`:                                      "ranks[0] has no devices",
		head + `"ranks": [{"count": 0, ` + devices + `}]}`:                        `ranks[0]: "count" is 0; it must be a whole number from 1 to 65536`,
		head + `"ranks": [{"count": 65536, ` + devices + `}, {` + devices + `}]}`: "more than 65536 ranks",
		head + `"ranks": [{"devices": [{"count": 1000, "profile": "v100"}, {"count": 1000, "profile": "v100"}]}]}`: "more than 1024 devices",
		head + `"ranks": [{"devices": [{"profile": "v99"}]}]}`:                                                     `no device profile is called "v99"`,
		head + `"ranks": [{"devices": [{"profile": "x.json"}]}]}`:                                                  "cannot read the device profile x.json",
		head + `"ranks": [{"devices": [{"profile": "v100", "memory_bytes": 5}]}]}`:                                 `devices[0]: "memory_bytes" is 5; it must be an object`,
		head + `"ranks": [{"devices": [{"profile": "v100", "weight": {"value": 0` + est + `}]}]}`:                  `devices[0]: "weight" is 0; it must be from 0.001 to 1e+06`,
		head + `"ranks": [{"devices": [{"profile": "v100", "memory_bytes": {"value": 1.5` + est + `}]}]}`:          "must be a whole number",
		head + `"ranks": [{"devices": [{"profile": "v100", "profile": "v100"}]}]}`:                                 `devices[0] has "profile" twice`,
		head + `"rank": 1}`: `unknown field "rank"`,
		head + `"network": {"gbps": {"value": 1` + est + `}}`:                                                                                                                               `network has no "latency_us"; add it, as in docs/MACHINE.md`,
		head + `"network": {"gbps": {"value": 0` + est + `}}`:                                                                                                                               `network: "gbps" is 0; it must be from 0.001 to 1e+06`,
		head + `"network": {"gbps": {"value": 5, "from": ""}}}`:                                                                                                                             `network: "gbps": "from" is empty`,
		head + `"network": {"gbps": {"value": 5}}}`:                                                                                                                                         `network: "gbps" has no "from"`,
		link(`"kind": "rope", "gbps": {"value": 1` + est):                                                                                                                                   `links[0]: the kind is "rope"; it must be one of nvlink, switch`,
		link(`"kind": "nvlink", "gbps": {"value": 1` + est):                                                                                                                                 `"latency_us" is of copies between peers; it must be present`,
		link(`"kind": "switch", "peers": false, "gbps": {"value": 1` + est + `, "latency_us": {"value": 1` + est):                                                                           "and only then",
		link(`"kind": "nvlink", "peers": true, "gbps": {"value": 1` + est + `, "latency_us": {"value": 1` + est):                                                                            "which only a switch has",
		link(`"kind": "switch", "pair_gbps": {"value": 1` + est + `, "gbps": {"value": 1` + est):                                                                                            "which only an nvlink has",
		link(`"kind": "nvlink", "devices": [1, 0], "gbps": {"value": 1` + est + `, "latency_us": {"value": 1` + est):                                                                        `"devices" has 0; it must be numbers of devices from 0, in ascending order`,
		link(`"kind": "nvlink", "devices": [0], "gbps": {"value": 1` + est + `, "latency_us": {"value": 1` + est):                                                                           "with 1 devices; it must have at least 2",
		link(`"kind": "nvlink", "devices": [0, 2], "gbps": {"value": 1` + est + `, "latency_us": {"value": 1` + est):                                                                        "has device 2, and the rank has 2 devices",
		link(`"kind": "nvlink", "devices": [0, 1.5], "gbps": {"value": 1` + est + `, "latency_us": {"value": 1` + est):                                                                      `"devices" has 1.5`,
		link(`"kind": "switch", "gbps": {"value": 1` + est + `, "latency_us": {"value": 1` + est + `}, {"kind": "switch", "gbps": {"value": 1` + est + `, "latency_us": {"value": 1` + est): "device 0 is at two switches",
	} {
		_, err := machine.ParseFile("m.json", []byte(text))
		assert.ErrorContains(t, err, want, text)
		if err != nil {
			assert.True(t, strings.HasPrefix(err.Error(), "m.json:1: "), err)
		}
	}
}

// Times of messages in closed form: n messages of b bytes leave one rank after n(o + b/G), and arrive one latency later.
func TestArrivals(t *testing.T) {
	m, err := machine.Lookup("a100-32x4")
	require.NoError(t, err)
	const bytes = 1 << 20
	o, l := m.Network.Message, m.Network.Latency
	each := o + model.Time(bytes*1000/25)
	require.Equal(t, each, m.Occupation(3, 7, bytes))
	free := model.Time(0)
	for n := range model.Time(5) {
		var arrival model.Time
		arrival, free = m.Arrival(0, 1+int(n), bytes, 1000, free)
		assert.Equal(t, 1000+(n+1)*each, free)
		assert.Equal(t, free+l, arrival)
	}
	arrival, free := m.Arrival(0, 1, 0, 99*model.Second, free)
	assert.Equal(t, 99*model.Second+o, free, "the adapter was idle")
	assert.Equal(t, free+l, arrival)
}

// Messages that arrive together at one rank are delivered one after the other.
func TestDeliveries(t *testing.T) {
	m, err := machine.Uniform(9, 1, "h200")
	require.NoError(t, err)
	const bytes = 123456
	first, _ := m.Arrival(1, 0, bytes, 0, 0)
	each := m.Occupation(1, 0, bytes)
	assert.Equal(t, each+m.Network.Latency, first)
	last := model.Time(0)
	for from := range 8 {
		last = m.Delivery(from+1, 0, bytes, first, last)
		assert.Equal(t, first+model.Time(from)*each, last, fmt.Sprint("from ", from+1))
	}
	assert.Equal(t, 2*model.Second, m.Delivery(1, 0, bytes, 2*model.Second, last), "the receiver was idle")
}

// The ranks of a node share its adapter equally, and reach each other through memory.
func TestRanksOfANode(t *testing.T) {
	text := head + `"ranks_per_node": 4, "ranks": [{"count": 8, ` + devices + `}],
		"network": {"gbps": {"value": 8` + est + `, "latency_us": {"value": 3` + est + `, "message_us": {"value": 1` + est + `},
		"shared_memory": {"gbps": {"value": 4` + est + `, "latency_us": {"value": 0.5` + est + `, "message_us": {"value": 0` + est + `}}`
	m, err := machine.ParseFile("m.json", []byte(text))
	require.NoError(t, err)
	assert.Equal(t, model.Microsecond+2000*500, m.Occupation(0, 7, 2000), "2000 bytes at a quarter of 8 GB/s")
	assert.Equal(t, model.Time(2000*250), m.Occupation(0, 3, 2000))
	arrival, _ := m.Arrival(4, 5, 2000, 0, 0)
	assert.Equal(t, 2000*250+500*model.Nanosecond, arrival)
}

func TestUniformNames(t *testing.T) {
	m, err := machine.Lookup("2x3:v100")
	require.NoError(t, err)
	assert.Equal(t, "2x3:v100: 2 ranks x 3 devices", m.String())
	assert.Equal(t, "v100", m.Ranks[1].Devices[2].Profile.ID)
	m, err = machine.Lookup("4x1")
	require.NoError(t, err)
	assert.Equal(t, 4, m.Devices())
	_, err = machine.Lookup("0x4")
	assert.ErrorContains(t, err, "machine 0x4: a machine of 0 ranks")
	_, err = machine.Lookup("2x4:nothing")
	assert.ErrorContains(t, err, "machine 2x4:nothing: ")
	_, err = machine.Lookup("2x4x4")
	assert.ErrorContains(t, err, "no machine is called")
}
