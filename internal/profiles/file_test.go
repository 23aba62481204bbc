package profiles

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/section"
)

// odd returns a profile none of whose figures is round.
func odd(seed uint64) *model.Profile {
	r := rand.New(rand.NewPCG(seed, 1))
	p := *All()[seed%uint64(len(All()))]
	p.Name, p.ID = fmt.Sprintf("odd \"device\" <%d> µ\n", seed), ""
	for i := range figures {
		f := &figures[i]
		v := f.Of(&p) * (0.5 + r.Float64())
		if f.Set(&p, v) != nil {
			_ = f.Set(&p, math.Round(v)) // a whole number; or else it stays
		}
	}
	return &p
}

func TestProfilesSurviveTheirFile(t *testing.T) {
	list := All()
	for seed := range uint64(50) {
		list = append(list, odd(seed))
	}
	for _, p := range list {
		f := NewFile(p, "here")
		f.About = "a \\ test"
		f.Origins["l2_gbps"] = Origin{From: "measured", Spread: 0.0125}
		back, err := ParseFile("p.json", f.Text())
		require.NoError(t, err)
		back.Profile.ID = p.ID
		require.Equal(t, f, back)
		require.Equal(t, string(f.Text()), string(back.Text()))
	}
}

// A figure that is not in the table would be lost in a file: changing any number
// of a profile, however deep, must change its text.
func TestEveryNumberOfAProfileIsAFigure(t *testing.T) {
	p := h200
	before := string(NewFile(&p, "here").Text())
	count := 0
	var walk func(path string, v reflect.Value)
	walk = func(path string, v reflect.Value) {
		switch v.Kind() {
		case reflect.Struct:
			for i := range v.NumField() {
				walk(path+"."+v.Type().Field(i).Name, v.Field(i))
			}
			return
		case reflect.Array:
			for i := range v.Len() {
				walk(fmt.Sprintf("%s[%d]", path, i), v.Index(i))
			}
			return
		case reflect.String:
			return // the heading, and the ID, which is the path
		}
		count++
		was := reflect.New(v.Type()).Elem()
		was.Set(v)
		switch v.Kind() {
		case reflect.Int, reflect.Int64:
			v.SetInt(v.Int() + 1)
		case reflect.Float64:
			v.SetFloat(v.Float() + 0.25)
		default:
			t.Fatalf("%s is a %s, which files cannot hold", path, v.Kind())
		}
		assert.False(t, before == string(NewFile(&p, "here").Text()), "%s is in no figure", path)
		v.Set(was)
	}
	walk("Profile", reflect.ValueOf(&p).Elem())
	assert.Equal(t, len(figures)+2, count, "every number once, and the compute capability's two")
}

func TestFigureNamesAreDistinctAndDocumented(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range Figures() {
		assert.False(t, seen[f.Name], f.Name)
		seen[f.Name] = true
		assert.NotEmpty(t, f.Doc, f.Name)
		assert.Less(t, f.Least, f.Most, f.Name)
		for _, p := range All() {
			q := *p
			assert.NoError(t, f.Set(&q, f.Of(p)), p.ID)
		}
	}
}

// docs/PROFILE.md lists them all.
// `go test ./internal/profiles -run TestFiguresAreOnTheirPage -rewrite` writes it.
func TestFiguresAreOnTheirPage(t *testing.T) {
	var b strings.Builder
	b.WriteString("| figure | what | from | to |\n|---|---|---:|---:|\n")
	for _, f := range Figures() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", f.Name, f.Doc, number(f.Least), number(f.Most))
	}
	section.Check(t, "../../docs/PROFILE.md", "figures", b.String())
	page, err := os.ReadFile("../../docs/PROFILE.md")
	require.NoError(t, err)
	_, exceptions, _ := strings.Cut(string(page), "with two exceptions:")
	exceptions, _, _ = strings.Cut(exceptions, "were added later")
	for _, name := range laterFigures {
		assert.Contains(t, exceptions, "`"+name+"`", "a figure that a file may leave out")
	}
}

func TestProfileFileErrors(t *testing.T) {
	good := string(NewFile(&h200, "here").Text())
	gap := `"stream_gap_ns": {"value": 1380, "from": "here"}`
	require.Contains(t, good, gap)
	for _, c := range []struct{ name, old, new, want string }{
		{"unknown field", `"about": ""`, `"abuot": ""`, `p.json:6: unknown field "abuot"; remove it, or move a figure into "figures"`},
		{"unknown figure", gap, gap + `, "warp_drives": {"value": 1, "from": "here"}`, `unknown figure "warp_drives"; remove it`},
		{"wrong unit", "stream_gap_ns", "stream_gap_us", `unknown figure "stream_gap_us"; did you mean "stream_gap_ns", in the unit that the name ends in`},
		{"no unit", "stream_gap_ns", "stream_gap", `unknown figure "stream_gap"; did you mean "stream_gap_ns", in the unit that the name ends in`},
		{"missing figure", gap + ",", "", `"figures" has no "stream_gap_ns"; add it, as in the output of reprise profile h200`},
		{"missing heading", `"compute_capability": "9.0",`, "", `the file has no "compute_capability"; add it`},
		{"missing value", `"value": 1380, `, "", `stream_gap_ns has no "value"; add it`},
		{"missing origin", `1380, "from": "here"`, `1380`, `stream_gap_ns has no "from"; add it`},
		{"empty origin", `1380, "from": "here"`, `1380, "from": ""`, `stream_gap_ns: "from" is empty; state the origin of the value`},
		{"unknown part", `1380, "from"`, `1380, "unit": "ns", "from"`, `stream_gap_ns: unknown field "unit"`},
		{"negative", `1380`, `-1380`, `stream_gap_ns is -1380; it must be from 0 to 99999`},
		{"too long for a gap", `1380`, `1380000`, `stream_gap_ns is 1.38e+06; it must be from 0 to 99999`},
		{"not a number", `1380`, `NaN`, `not JSON: invalid character 'N'`},
		{"infinite", `1380`, `1e999`, `stream_gap_ns is 1e999, which is too large`},
		{"a text", `1380`, `"1380"`, `stream_gap_ns is 1380; it must be a number without quotes`},
		{"a bare value", `{"value": 1380, "from": "here"}`, `1380`, `stream_gap_ns is 1380; it must be an object, {...}`},
		{"null", `1380`, `null`, `stream_gap_ns is <nil>; it must be a number without quotes`},
		{"a part of a multiprocessor", `"value": 132,`, `"value": 132.5,`, `multiprocessors is 132.5; it must be a whole number`},
		{"no multiprocessors", `"value": 132,`, `"value": 0,`, `multiprocessors is 0; it must be from 1 to`},
		{"twice", gap, gap + ",\n" + gap, `"figures" has "stream_gap_ns" twice; remove one`},
		{"other format", fileFormat, "bench", `the format is "bench"; the format of a device profile is "reprise-profile"`},
		{"other version", `"version": 1`, `"version": 2`, `version 2; this release reads version 1`},
		{"compute", `"9.0"`, `"9"`, `compute_capability is "9"; write it as "9.0"`},
		{"compute", `"9.0"`, `9.0`, `compute_capability is 9.0; it must be a text in quotes`},
		{"negative spread", `1380, "from": "here"`, `1380, "from": "here", "spread": -1`, `stream_gap_ns: "spread" is -1; it must be a ratio, 0 or more`},
		{"cut off", "\n  }\n}\n", "", `not JSON: the text ends too early`},
		{"more behind", "\n  }\n}\n", "\n  }\n}\n{}", `there is text after the end of the profile; remove it`},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Contains(t, good, c.old)
			_, err := ParseFile("p.json", []byte(strings.Replace(good, c.old, c.new, 1)))
			require.Error(t, err)
			assert.Contains(t, err.Error(), c.want)
			assert.Regexp(t, `^p\.json:\d+: `, err.Error())
			assert.NotContains(t, err.Error(), "\n")
		})
	}
}

func TestProfileErrorsTellTheLine(t *testing.T) {
	good := string(NewFile(&h200, "here").Text())
	at := 1 + strings.Count(good[:strings.Index(good, `"stream_gap_ns"`)], "\n")
	_, err := ParseFile("p.json", []byte(strings.Replace(good, `"value": 1380,`, `"value": -1,`, 1)))
	assert.ErrorContains(t, err, fmt.Sprintf("p.json:%d: stream_gap_ns is -1", at))
}

func TestLookupReadsFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "my.json")
	_, err := Lookup(path)
	assert.EqualError(t, err, "cannot read the device profile "+path+": no such file or directory")
	p := odd(7)
	require.NoError(t, os.WriteFile(path, NewFile(p, "here").Text(), 0o600))
	got, err := Lookup(path)
	require.NoError(t, err)
	p.ID = path
	assert.Equal(t, p, got)
}

// FuzzParseFile: no text makes the parser panic, and a profile that it reads is the same after it was written and
// read again. FuzzProfilesKeepTime of the engine runs tasks on such profiles.
func FuzzParseFile(f *testing.F) {
	f.Add(NewFile(&v100, "here").Text())
	f.Add(NewFile(odd(3), "here").Text())
	f.Add([]byte(`{"format": "reprise-profile", "version": 1, "figures": {"clock_mhz": {"value": 1}}}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		file, err := ParseFile("p.json", src)
		if err != nil {
			require.NotContains(t, err.Error(), "BUG")
			return
		}
		back, err := ParseFile("p.json", file.Text())
		require.NoError(t, err)
		require.Equal(t, file, back)
	})
}

// A figure that a file takes over from a known profile is what that profile has, whatever the file says. Figures that the
// format did not have at first may be absent: they are those of the profile from which most are taken over.
func TestFiguresThatAreTakenOverFollowTheirProfile(t *testing.T) {
	old := NewFile(&gtx960, "here")
	old.Profile.StreamGap, old.Profile.EventGap, old.Profile.KernelRamp = 1*model.Nanosecond, 2*model.Nanosecond, 3*model.Nanosecond
	old.Origins["stream_gap_ns"] = Origin{From: "taken over from v100"}
	old.Origins["event_gap_ns"] = Origin{From: "taken over from v100"}
	old.Origins["kernel_ramp_ns"] = Origin{From: "taken over from p100, since 0 was measured"}
	text := string(old.Text())
	for _, name := range []string{"flush_latency_ns", "block_latency_ns", "warp_latency_ns"} {
		cut := regexp.MustCompile(`\n    "` + name + `": \{[^}]*\},`)
		require.Regexp(t, cut, text)
		text = cut.ReplaceAllString(text, "")
	}
	f, err := ParseFile("p.json", []byte(text))
	require.NoError(t, err)
	p := &f.Profile
	assert.Equal(t, v100.StreamGap, p.StreamGap)
	assert.Equal(t, v100.EventGap, p.EventGap)
	assert.Equal(t, 3*model.Nanosecond, p.KernelRamp, "another origin than that profile alone")
	assert.Equal(t, v100.BlockLatency, p.BlockLatency)
	assert.Equal(t, v100.FlushLatency, p.FlushLatency)
	assert.Equal(t, "taken over from v100", f.Origins["block_latency_ns"].From)
	assert.Equal(t, gtx960.SMs, p.SMs)

	again, err := ParseFile("p.json", f.Text())
	require.NoError(t, err)
	assert.Equal(t, f, again, "a file that is written and read again stays as it is")
}

// docs/DEVICES.md lists the short profiles.
// `go test ./internal/profiles -run TestShortProfilesAreOnTheirPage -rewrite` writes it.
func TestShortProfilesAreOnTheirPage(t *testing.T) {
	var b strings.Builder
	b.WriteString("| profile | device | compute capability | base | figures of its own |\n|---|---|---|---|---:|\n")
	for _, id := range shortIDs() {
		f, bases, own := short(id), map[string]bool{}, 0
		for _, o := range f.Origins {
			if base, ok := strings.CutPrefix(o.From, takenOver); ok {
				bases[base] = true
			} else {
				own++
			}
		}
		require.Len(t, bases, 1, id)
		p := &f.Profile
		base := slices.Collect(maps.Keys(bases))[0]
		fmt.Fprintf(&b, "| `%s` | %s | %d.%d | `%s` | %d |\n", id, p.Name, p.ComputeMajor, p.ComputeMinor, base, own)
	}
	section.Check(t, "../../docs/DEVICES.md", "short profiles", b.String())
}

// A file to edit has the values of its profile, and keeps what is known of their sources. A changed value counts.
func TestLookupFileCanBeEdited(t *testing.T) {
	for _, id := range append(detailedIDs(), shortIDs()...) {
		f, err := LookupFile(id)
		require.NoError(t, err)
		p, err := Lookup(id)
		require.NoError(t, err)
		f.Profile.StreamGap = 12345 * model.Nanosecond
		back, err := ParseFile("p.json", f.Text())
		require.NoError(t, err)
		want := *p
		want.StreamGap, want.ID = f.Profile.StreamGap, ""
		assert.Equal(t, want, back.Profile, id)
	}
	f, err := LookupFile("a40")
	require.NoError(t, err)
	assert.Equal(t, "data sheet", f.Origins["clock_mhz"].From)
	assert.Equal(t, "the profile a100", f.Origins["stream_gap_ns"].From)
	assert.NotEmpty(t, f.About)
	_, err = LookupFile("none")
	assert.ErrorContains(t, err, `no device profile is called "none"`)
}

// A short profile has what its data sheet says, and the rest from its base.
func TestShortProfiles(t *testing.T) {
	for _, id := range shortIDs() {
		p, err := Lookup(id)
		require.NoError(t, err)
		require.NoError(t, Check(p))
		assert.Equal(t, id, p.ID)
		f := short(id)
		assert.NotContains(t, f.Origins["multiprocessors"].From+f.Origins["clock_mhz"].From, "estimate", id)
		assert.Contains(t, f.Origins["stream_gap_ns"].From, "taken over from ", id)
		again, err := ParseFile("p.json", f.Text())
		require.NoError(t, err, id)
		again.Profile.ID = id
		assert.Equal(t, f, again, id)
	}
	_, err := Lookup("rtx5090")
	assert.ErrorContains(t, err, "known profiles: h200, a100")
	assert.ErrorContains(t, err, "from data sheets: a100-40, a40")

	a40, err := shortFiles.ReadFile("short/a40.json")
	require.NoError(t, err)
	text := string(a40)
	for changed, want := range map[string]string{
		strings.Replace(text, `"base": "a100"`, `"base": "a200"`, 1): `the base is "a200"; it must be one of h200, a100, v100, p100, gtx1660s, gtx960`,
		strings.Replace(text, "  \"base\": \"a100\",\n", "", 1):      `"figures" has no "memory_share"`,
	} {
		_, err := ParseFile("p.json", []byte(changed))
		assert.ErrorContains(t, err, want)
	}
}
