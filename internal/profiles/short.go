package profiles

import (
	"embed"
	"strings"

	"github.com/reprise-gpu/reprise/device/model"
)

// shortFiles are profiles of devices whose data sheets are known, and little else: files with a base, whose figures
// they take over where a data sheet says nothing.
//
//go:embed short/*.json
var shortFiles embed.FS

// short returns the short profile with the given ID, or nil.
func short(id string) *File {
	text, err := shortFiles.ReadFile("short/" + id + fileSuffix)
	if err != nil {
		return nil
	}
	f, err := ParseFile(id+fileSuffix, text)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	f.Profile.ID = id
	return f
}

// Short returns the short profiles, sorted by ID.
func Short() (list []*model.Profile) {
	for _, id := range shortIDs() {
		list = append(list, &short(id).Profile)
	}
	return list
}

func shortIDs() (ids []string) {
	entries, err := shortFiles.ReadDir("short")
	if err != nil {
		panic("BUG: " + err.Error())
	}
	for _, e := range entries {
		ids = append(ids, strings.TrimSuffix(e.Name(), fileSuffix))
	}
	return ids
}
