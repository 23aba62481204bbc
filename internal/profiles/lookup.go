package profiles

import (
	"strings"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/phrase"
	"github.com/reprise-gpu/reprise/internal/sentinel"
)

// All returns the detailed profiles, the default first. [Short] returns the others, which are from data sheets.
func All() []*model.Profile {
	return []*model.Profile{&h200, &a100, &v100, &p100, &gtx1660s, &gtx960}
}

// Lookup returns the profile with the given ID, or reads it from the file if id ends in .json. The error lists the
// known profiles.
func Lookup(id string) (*model.Profile, error) {
	if strings.HasSuffix(id, fileSuffix) {
		f, err := ReadFile(id)
		if err != nil {
			return nil, err
		}
		return &f.Profile, nil
	}
	if p := detailed(id); p != nil {
		return p, nil
	}
	if f := short(id); f != nil {
		return &f.Profile, nil
	}
	return nil, sentinel.Errorf(sentinel.ErrUnknown, "no device profile is called %q%s; known profiles: %s; from data sheets: %s; or the path of a file that ends in .json",
		id, phrase.DidYouMean(id, append(detailedIDs(), shortIDs()...)), strings.Join(detailedIDs(), ", "), strings.Join(shortIDs(), ", "))
}

// LookupFile returns the profile with the given ID as a file, or reads the file if id ends in .json. Every figure can be
// edited there: none has the origin of a figure that follows a known profile.
func LookupFile(id string) (*File, error) {
	if strings.HasSuffix(id, fileSuffix) {
		return ReadFile(id)
	}
	f := short(id)
	if f == nil {
		p, err := Lookup(id)
		if err != nil {
			return nil, err
		}
		return NewFile(p, "the profile "+id), nil
	}
	for name, o := range f.Origins {
		if base, ok := strings.CutPrefix(o.From, takenOver); ok {
			o.From = "the profile " + base
			f.Origins[name] = o
		}
	}
	return f, nil
}

// detailed returns the profile of All with the given ID, or nil.
func detailed(id string) *model.Profile {
	for _, p := range All() {
		if p.ID == id {
			return p
		}
	}
	return nil
}

func detailedIDs() (ids []string) {
	for _, p := range All() {
		ids = append(ids, p.ID)
	}
	return ids
}
