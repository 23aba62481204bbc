package machine

import (
	"embed"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/reprise-gpu/reprise/internal/phrase"
)

// builtIn are machines of usual forms.
//
//go:embed machines/*.json
var builtIn embed.FS

// Lookup returns the built-in machine of a name, reads a file if the name ends in .json, or returns the Uniform machine of
// a name such as "2x4:a100": ranks, devices of each, and their profile, which is h200 if it is left out.
func Lookup(name string) (*Machine, error) {
	if strings.HasSuffix(name, fileSuffix) {
		return ReadFile(name)
	}
	if form := uniformName.FindStringSubmatch(name); form != nil {
		return uniform(name, form)
	}
	text, err := Text(name)
	if err != nil {
		return nil, err
	}
	m, err := ParseFile(name+fileSuffix, text)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	m.ID = name
	return m, nil
}

// uniformName is the form of names of uniform machines.
var uniformName = regexp.MustCompile(`^([0-9]{1,5})x([0-9]{1,5})(?::(.+))?$`)

func uniform(name string, form []string) (*Machine, error) {
	ranks, _ := strconv.Atoi(form[1])
	devices, _ := strconv.Atoi(form[2])
	profile := form[3]
	if profile == "" {
		profile = "h200"
	}
	m, err := Uniform(ranks, devices, profile)
	if err != nil {
		return nil, fmt.Errorf("machine %s: %w", name, err)
	}
	m.ID = name
	return m, nil
}

// Text returns the file of a built-in machine.
func Text(name string) ([]byte, error) {
	text, err := builtIn.ReadFile("machines/" + name + fileSuffix)
	if err != nil {
		return nil, fmt.Errorf("no machine is called %q%s; known machines: %s; or RANKSxDEVICES:PROFILE, such as 2x4:a100, or the path of a file that ends in .json", name, phrase.DidYouMean(name, Names()), strings.Join(Names(), ", "))
	}
	return text, nil
}

// Names returns the names of the built-in machines.
func Names() (names []string) {
	entries, err := builtIn.ReadDir("machines")
	if err != nil {
		panic("BUG: " + err.Error())
	}
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), fileSuffix))
	}
	return names
}
