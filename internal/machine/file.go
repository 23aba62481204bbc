package machine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/bounded"
	"github.com/reprise-gpu/reprise/internal/profiles"
	"github.com/reprise-gpu/reprise/internal/strictjson"
)

// A machine file is JSON. docs/MACHINE.md describes it.
//
//	{
//	  "format": "reprise-machine",
//	  "version": 1,
//	  "about": "...",
//	  "ranks_per_node": 1,                         optional
//	  "ranks": [
//	    {"count": 32, "devices": [{"count": 4, "profile": "a100-40"}],
//	     "links": [{"kind": "nvlink", "gbps": {"value": 250, "from": "estimate"}, ...}]}
//	  ],
//	  "network": {"gbps": {...}, "latency_us": {...}, "message_us": {...}},        optional
//	  "shared_memory": {"gbps": {...}, "latency_us": {...}, "message_us": {...}}   optional
//	}
const (
	fileFormat = "reprise-machine"
	fileSuffix = ".json"
	maxFile    = 1 << 20 // bytes
	example    = "docs/MACHINE.md"

	maxRanks   = 1 << 16
	maxDevices = 1 << 10 // of a rank
	maxGBps    = 1e6
	minGBps    = 0.001
	maxMicros  = 1e6
	maxWeight  = 1e6
	minWeight  = 0.001
)

// ReadFile reads a machine file. Paths of profile files in it are relative to its directory. The ID of the machine is the
// path.
func ReadFile(path string) (*Machine, error) {
	src, err := bounded.ReadFile(path, maxFile)
	if err != nil {
		var failed *fs.PathError
		if errors.As(err, &failed) {
			err = failed.Err
		}
		return nil, fmt.Errorf("cannot read the machine %s: %w", path, err)
	}
	return ParseFile(path, src)
}

// ParseFile parses the text of a machine file. Errors refer to the file by name, and the ID of the machine is the name.
func ParseFile(name string, src []byte) (*Machine, error) {
	r := &fileReader{
		Reader: strictjson.NewReader(src, example), dir: filepath.Dir(name), perNode: 1,
		machine:  Machine{ID: name, Network: uniformNet, Shared: uniformShared},
		profiles: map[string]*model.Profile{},
	}
	if err := r.read(); err != nil {
		return nil, r.Locate(name, err)
	}
	for i := range r.machine.Ranks {
		r.machine.Ranks[i].Node = i / r.perNode
	}
	return &r.machine, nil
}

// fileReader parses a file.
type fileReader struct {
	*strictjson.Reader
	dir      string
	perNode  int
	machine  Machine
	profiles map[string]*model.Profile // by name in the file
}

func (r *fileReader) read() error {
	err := r.fields("the file", map[string]func() error{
		"format":         r.format,
		"version":        r.version,
		"about":          func() error { return r.Text("about", &r.machine.About) },
		"ranks_per_node": func() error { return r.count("ranks_per_node", maxRanks, &r.perNode) },
		"ranks":          func() error { return r.List("ranks", r.ranks) },
		"network":        func() error { return r.network("network", &r.machine.Network) },
		"shared_memory":  func() error { return r.network("shared_memory", &r.machine.Shared) },
	}, "format", "version", "ranks")
	switch {
	case err != nil:
		return err
	case len(r.machine.Ranks) == 0:
		return errors.New(`"ranks" is empty; a machine has at least one rank`)
	}
	return r.End("machine")
}

func (r *fileReader) format() error {
	var format string
	err := r.Text("format", &format)
	if err == nil && format != fileFormat {
		err = fmt.Errorf("the format is %q; the format of a machine is %q", format, fileFormat)
	}
	return err
}

func (r *fileReader) version() error {
	var version json.Number
	err := r.Number("version", &version)
	if err == nil && version != "1" {
		err = fmt.Errorf("version %s; this release reads version 1 of machine files", version)
	}
	return err
}

// ranks reads a group of equal ranks.
func (r *fileReader) ranks(i int) error {
	what, n := fmt.Sprintf("ranks[%d]", i), 1
	var rank Rank
	var host float64
	err := r.fields(what, map[string]func() error{
		"count":   func() error { return r.count(what+`: "count"`, maxRanks, &n) },
		"devices": func() error { return r.List(what+`: "devices"`, func(i int) error { return r.devices(&rank, i) }) },
		"links":   func() error { return r.List(what+`: "links"`, func(i int) error { return r.link(&rank, i) }) },

		"host_memory_bytes": func() error { return r.figure(what+`: "host_memory_bytes"`, 1, 1<<44, &host) },
	}, "devices")
	switch {
	case err != nil:
		return err
	case host != float64(int64(host)):
		return fmt.Errorf("%s: \"host_memory_bytes\" is %v; it must be a whole number", what, host)
	case len(rank.Devices) == 0:
		return fmt.Errorf("%s has no devices; a rank has at least one", what)
	case len(r.machine.Ranks)+n > maxRanks:
		return fmt.Errorf("the machine has more than %d ranks, which is the limit", maxRanks)
	}
	if err := rank.check(what); err != nil {
		return err
	}
	rank.Host = int64(host)
	for range n {
		r.machine.Ranks = append(r.machine.Ranks, rank)
	}
	return nil
}

// devices reads a group of equal devices.
func (r *fileReader) devices(to *Rank, i int) error {
	what, n := fmt.Sprintf("devices[%d]", i), 1
	var profile string
	var memory, weight float64
	err := r.fields(what, map[string]func() error{
		"count":        func() error { return r.count(what+`: "count"`, maxDevices, &n) },
		"profile":      func() error { return r.Text(what+`: "profile"`, &profile) },
		"weight":       func() error { return r.figure(what+`: "weight"`, minWeight, maxWeight, &weight) },
		"memory_bytes": func() error { return r.figure(what+`: "memory_bytes"`, 1, 1<<44, &memory) },
	}, "profile")
	if err != nil {
		return err
	}
	p, err := r.profile(profile)
	switch {
	case err != nil:
		return err
	case memory != float64(int64(memory)):
		return fmt.Errorf("%s: \"memory_bytes\" is %v; it must be a whole number", what, memory)
	case len(to.Devices)+n > maxDevices:
		return fmt.Errorf("a rank has more than %d devices, which is the limit", maxDevices)
	}
	d := Device{Profile: p, Memory: int64(memory), Weight: weight}
	if memory == 0 {
		d.Memory = p.MemoryBytes
	}
	to.Devices = append(to.Devices, slices.Repeat([]Device{d}, n)...)
	return nil
}

// profile returns the profile of a name, the same for equal names.
func (r *fileReader) profile(name string) (*model.Profile, error) {
	if p := r.profiles[name]; p != nil {
		return p, nil
	}
	path := name
	if strings.HasSuffix(name, fileSuffix) && !filepath.IsAbs(name) {
		path = filepath.Join(r.dir, name)
	}
	p, err := profiles.Lookup(path)
	r.profiles[name] = p
	return p, err
}

func (r *fileReader) link(to *Rank, i int) error {
	what := fmt.Sprintf("links[%d]", i)
	l := Link{Peers: true}
	var kind string
	present := map[string]bool{}
	figure := func(name string, low, high float64, set func(float64)) func() error {
		return func() (err error) {
			var v float64
			err = r.figure(what+": "+strconv.Quote(name), low, high, &v)
			set(v)
			present[name] = true
			return err
		}
	}
	err := r.fields(what, map[string]func() error{
		"kind":       func() error { return r.Text(what+`: "kind"`, &kind) },
		"devices":    func() error { return r.List(what+`: "devices"`, func(int) error { return r.member(what, &l) }) },
		"gbps":       figure("gbps", minGBps, maxGBps, func(v float64) { l.GBps = v }),
		"pair_gbps":  figure("pair_gbps", minGBps, maxGBps, func(v float64) { l.PairGBps = v }),
		"latency_us": figure("latency_us", 0, maxMicros, func(v float64) { l.Latency = micros(v) }),
		"peers":      func() error { present["peers"] = true; return r.Bool(what+`: "peers"`, &l.Peers) },
	}, "kind", "gbps")
	k := slices.Index(linkKinds[:], kind)
	switch {
	case err != nil:
		return err
	case k < 0:
		return fmt.Errorf("%s: the kind is %q; it must be one of %s", what, kind, strings.Join(linkKinds[:], ", "))
	case LinkKind(k) == NVLink && present["peers"]:
		return fmt.Errorf("%s: an nvlink has \"peers\", which only a switch has; remove it", what)
	case LinkKind(k) == Switch && present["pair_gbps"]:
		return fmt.Errorf("%s: a switch has \"pair_gbps\", which only an nvlink has; remove it", what)
	case l.Peers != present["latency_us"]:
		return fmt.Errorf("%s: \"latency_us\" is of copies between peers; it must be present if the devices are peers, and only then", what)
	}
	l.Kind = LinkKind(k)
	to.Links = append(to.Links, l)
	return nil
}

// member reads the number of a device of a link.
func (r *fileReader) member(what string, l *Link) error {
	var n json.Number
	if err := r.Number(what+`: "devices"`, &n); err != nil {
		return err
	}
	d, err := strconv.Atoi(n.String())
	if err != nil || d < 0 || len(l.Devices) > 0 && d <= l.Devices[len(l.Devices)-1] {
		return fmt.Errorf("%s: \"devices\" has %s; it must be numbers of devices from 0, in ascending order", what, n)
	}
	l.Devices = append(l.Devices, d)
	return nil
}

// check completes the links of a rank, whose devices are all those of the rank by default, and returns an error for a
// link with devices that the rank has not.
func (rank *Rank) check(what string) error {
	onSwitch := map[int]bool{}
	for i := range rank.Links {
		l := &rank.Links[i]
		if l.Devices == nil {
			l.Devices = upTo(len(rank.Devices))
		}
		least := 2
		if l.Kind == Switch {
			least = 1
		}
		switch {
		case len(l.Devices) < least:
			return fmt.Errorf("%s: links[%d] is an %v with %d devices; it must have at least %d", what, i, l.Kind, len(l.Devices), least)
		case l.Devices[len(l.Devices)-1] >= len(rank.Devices):
			return fmt.Errorf("%s: links[%d] has device %d, and the rank has %d devices, with numbers from 0", what, i, l.Devices[len(l.Devices)-1], len(rank.Devices))
		}
		for _, d := range l.Devices {
			if l.Kind == Switch && onSwitch[d] {
				return fmt.Errorf("%s: device %d is at two switches; each device is at one at most", what, d)
			}
			onSwitch[d] = onSwitch[d] || l.Kind == Switch
		}
	}
	return nil
}

func (r *fileReader) network(what string, to *Network) error {
	var latency, message float64
	err := r.fields(what, map[string]func() error{
		"gbps":       func() error { return r.figure(what+`: "gbps"`, minGBps, maxGBps, &to.GBps) },
		"latency_us": func() error { return r.figure(what+`: "latency_us"`, 0, maxMicros, &latency) },
		"message_us": func() error { return r.figure(what+`: "message_us"`, 0, maxMicros, &message) },
	}, "gbps", "latency_us", "message_us")
	to.Latency, to.Message = micros(latency), micros(message)
	return err
}

// fields reads an object with the given fields.
func (r *fileReader) fields(what string, fields map[string]func() error, want ...string) error {
	return r.Object(what, func(name string) error {
		read, ok := fields[name]
		if !ok {
			return fmt.Errorf("%s: unknown field %q; remove it, or correct it as in %s", what, name, example)
		}
		return read()
	}, want...)
}

// figure reads a value and its source.
func (r *fileReader) figure(what string, low, high float64, to *float64) error {
	var value json.Number
	var from string
	err := r.fields(what, map[string]func() error{
		"value": func() error { return r.Number(what, &value) },
		"from":  func() error { return r.Text(what+`: "from"`, &from) },
	}, "value", "from")
	if err != nil {
		return err
	}
	v, err := value.Float64()
	switch {
	case err != nil || v < low || v > high:
		return fmt.Errorf("%s is %s; it must be from %v to %v", what, value, low, high)
	case from == "":
		return fmt.Errorf("%s: \"from\" is empty; state the source of the value, or estimate", what)
	}
	*to = v
	return nil
}

func (r *fileReader) count(what string, high int, to *int) error {
	var n json.Number
	if err := r.Number(what, &n); err != nil {
		return err
	}
	v, err := strconv.Atoi(n.String())
	if err != nil || v < 1 || v > high {
		return fmt.Errorf("%s is %s; it must be a whole number from 1 to %d", what, n, high)
	}
	*to = v
	return nil
}

func micros(us float64) model.Time { return model.Time(us*float64(model.Microsecond) + 0.5) }
