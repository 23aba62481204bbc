package profiles

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/bounded"
	"github.com/reprise-gpu/reprise/internal/strictjson"
)

// A profile file is JSON: a heading, then the figures with their values and where
// those are from. docs/PROFILE.md describes it.
//
//	{
//	  "format": "reprise-profile",
//	  "version": 1,
//	  "name": "NVIDIA H200",
//	  "compute_capability": "9.0",
//	  "about": "measured on ...",
//	  "base": "a100",                       optional: the profile that has the figures which are left out
//	  "figures": {
//	    "multiprocessors": {"value": 132, "from": "reported by the device"},
//	    "stream_gap_ns": {"value": 741.5, "from": "measured", "spread": 0.004},
//	    ...
//	  }
//	}
const (
	fileFormat  = "reprise-profile"
	fileVersion = 1
	fileSuffix  = ".json"
)

// File is a profile with the origin of every figure.
type File struct {
	Profile model.Profile
	About   string            // which device, when and how; free text
	Origins map[string]Origin // by name of the figure; every figure has one
}

// Origin describes where the value of a figure comes from.
type Origin struct {
	From   string  // "measured", "reported by the device", "taken over from h200"
	Spread float64 // of a measured value: range of the repetitions divided by the value; 0 if unknown
}

// NewFile returns the file of a profile whose figures all have the same origin.
func NewFile(p *model.Profile, from string) *File {
	f := &File{Profile: *p, Origins: map[string]Origin{}}
	for i := range figures {
		f.Origins[figures[i].Name] = Origin{From: from}
	}
	return f
}

// Text returns the content of the file. ParseFile is its inverse.
func (f *File) Text() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "{\n  \"format\": %q,\n  \"version\": %d,\n  \"name\": %s,\n  \"compute_capability\": \"%d.%d\",\n  \"about\": %s,\n  \"figures\": {",
		fileFormat, fileVersion, quote(f.Profile.Name), f.Profile.ComputeMajor, f.Profile.ComputeMinor, quote(f.About))
	for i := range figures {
		if i > 0 {
			b.WriteByte(',')
		}
		o := f.Origins[figures[i].Name]
		fmt.Fprintf(&b, "\n    %s: {\"value\": %s, \"from\": %s", quote(figures[i].Name), number(figures[i].Of(&f.Profile)), quote(o.From))
		if o.Spread > 0 {
			fmt.Fprintf(&b, ", \"spread\": %s", number(o.Spread))
		}
		b.WriteByte('}')
	}
	b.WriteString("\n  }\n}\n")
	return b.Bytes()
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

func quote(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // cannot fail: the destination is memory
	return strings.TrimSuffix(b.String(), "\n")
}

// ReadFile reads a profile file. The ID of the profile is the path.
func ReadFile(path string) (*File, error) {
	src, err := bounded.ReadFile(path, maxFile)
	if err != nil {
		var failed *fs.PathError
		if errors.As(err, &failed) {
			err = failed.Err
		}
		return nil, fmt.Errorf("cannot read the device profile %s: %w", path, err)
	}
	f, err := ParseFile(path, src)
	if err != nil {
		return nil, err
	}
	f.Profile.ID = path
	return f, nil
}

// maxFile bounds the size of a profile file in bytes. A file with all figures has about 10,000.
const maxFile = 1 << 20

// ParseFile parses the text of a profile file. Errors refer to the file by name. Every figure must occur exactly
// once, and no other field is allowed. A file with a base may leave out figures, any file those of laterFigures.
func ParseFile(name string, src []byte) (*File, error) {
	r := &fileReader{Reader: strictjson.NewReader(src, "the output of reprise profile h200"), file: File{Origins: map[string]Origin{}}}
	if err := r.read(); err != nil {
		return nil, r.Locate(name, err)
	}
	return &r.file, nil
}

const takenOver = "taken over from "

// takeOver sets the figures that a file takes over from a known profile to what this version of it has, so that a file
// follows corrections of the profile. Figures that the file leaves out are those of base. Without a base, only figures
// that the format did not have at first are left out. They are those of the profile from which most others are taken
// over, or of the default.
func (f *File) takeOver(base *model.Profile) {
	counts := map[string]int{}
	most := All()[0]
	for i := range figures {
		id, ok := strings.CutPrefix(f.Origins[figures[i].Name].From, takenOver)
		if p := detailed(id); ok && p != nil {
			_ = figures[i].Set(&f.Profile, figures[i].Of(p)) // known profiles are within the bounds
			if counts[id]++; counts[id] > counts[most.ID] {
				most = p
			}
		}
	}
	if base == nil {
		base = most
	}
	for i := range figures {
		if _, ok := f.Origins[figures[i].Name]; !ok {
			_ = figures[i].Set(&f.Profile, figures[i].Of(base))
			f.Origins[figures[i].Name] = Origin{From: takenOver + base.ID}
		}
	}
}

// fileReader parses a file.
type fileReader struct {
	*strictjson.Reader
	file File
	base *model.Profile // whose figures those are that the file leaves out; nil if it has all
}

func (r *fileReader) read() error {
	var format string
	var version, compute json.Number
	fields := map[string]func() error{
		"format":             func() error { return r.Text("format", &format) },
		"version":            func() error { return r.Number("version", &version) },
		"name":               func() error { return r.Text("name", &r.file.Profile.Name) },
		"compute_capability": func() error { return r.Text("compute_capability", (*string)(&compute)) },
		"about":              func() error { return r.Text("about", &r.file.About) },
		"base":               r.baseProfile,
		"figures":            r.figures,
	}
	order := []string{"format", "version", "name", "compute_capability", "about", "figures"}
	err := r.Object("the file", func(name string) error {
		read, ok := fields[name]
		if !ok {
			return fmt.Errorf("unknown field %q; remove it, or move a figure into \"figures\"", name)
		}
		err := read()
		switch {
		case err != nil:
			return err
		case name == "format" && format != fileFormat:
			return fmt.Errorf("the format is %q; the format of a device profile is %q", format, fileFormat)
		case name == "version" && version != "1":
			return fmt.Errorf("version %s; this release reads version %d, so write the file again with reprise calibrate", version, fileVersion)
		case name == "compute_capability":
			return r.compute(string(compute))
		}
		return nil
	}, order...)
	if err != nil {
		return err
	}
	if err := r.End("profile"); err != nil {
		return err
	}
	r.file.takeOver(r.base)
	return nil
}

func (r *fileReader) baseProfile() error {
	var id string
	if err := r.Text("base", &id); err != nil {
		return err
	}
	switch r.base = detailed(id); {
	case r.base == nil:
		return fmt.Errorf("the base is %q; it must be one of %s", id, strings.Join(detailedIDs(), ", "))
	case len(r.file.Origins) > 0:
		return errors.New(`"base" stands after "figures"; move it before them`)
	}
	return nil
}

func (r *fileReader) compute(text string) error {
	major, minor, _ := strings.Cut(text, ".")
	a, errA := strconv.ParseUint(major, 10, 7)
	b, errB := strconv.ParseUint(minor, 10, 7)
	if errA != nil || errB != nil || a == 0 || fmt.Sprintf("%d.%d", a, b) != text {
		return fmt.Errorf("compute_capability is %q; write it as \"9.0\"", text)
	}
	r.file.Profile.ComputeMajor, r.file.Profile.ComputeMinor = int(a), int(b)
	return nil
}

func (r *fileReader) figures() error {
	var names []string
	for i := range figures {
		if r.base == nil && !slices.Contains(laterFigures, figures[i].Name) {
			names = append(names, figures[i].Name)
		}
	}
	return r.Object(`"figures"`, func(name string) error {
		f := LookupFigure(name)
		if f == nil {
			return unknownFigure(name)
		}
		return r.figure(f)
	}, names...)
}

func (r *fileReader) figure(f *Figure) error {
	var value, spread json.Number
	var o Origin
	fields := map[string]func() error{
		"value":  func() error { return r.Number(f.Name, &value) },
		"from":   func() error { return r.Text(f.Name+`: "from"`, &o.From) },
		"spread": func() error { return r.Number(f.Name+`: "spread"`, &spread) },
	}
	err := r.Object(f.Name, func(name string) error {
		read, ok := fields[name]
		if !ok {
			return fmt.Errorf("%s: unknown field %q; a figure has \"value\", \"from\" and optionally \"spread\"", f.Name, name)
		}
		return read()
	}, "value", "from")
	if err != nil {
		return err
	}
	if o.From == "" {
		return fmt.Errorf("%s: \"from\" is empty; state the origin of the value", f.Name)
	}
	v, err := value.Float64()
	if err != nil {
		return fmt.Errorf("%s is %s, which is too large", f.Name, value)
	}
	if spread != "" {
		if o.Spread, err = spread.Float64(); err != nil || o.Spread < 0 {
			return fmt.Errorf("%s: \"spread\" is %s; it must be a ratio, 0 or more", f.Name, spread)
		}
	}
	r.file.Origins[f.Name] = o
	return f.Set(&r.file.Profile, v)
}

// unknownFigure returns the error for an unknown figure. It suggests a known figure whose name differs only in the
// unit.
func unknownFigure(name string) error {
	stem, _ := cutUnit(name)
	for i := range figures {
		known := figures[i].Name
		if short, unit := cutUnit(known); unit && (short == stem || short == name) {
			return fmt.Errorf("unknown figure %q; did you mean %q, in the unit that the name ends in", name, known)
		}
	}
	return fmt.Errorf("unknown figure %q; remove it", name)
}

// cutUnit returns a name without its last word, which is the unit.
func cutUnit(name string) (stem string, ok bool) {
	if i := strings.LastIndexByte(name, '_'); i > 0 {
		return name[:i], true
	}
	return name, false
}
