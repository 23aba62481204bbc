package wire

import (
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"

	"github.com/reprise-gpu/reprise/internal/sharing"
)

// othersClass is the greatest class of other users than that of the server, unless a line states another.
const othersClass = 4

// Caps holds the greatest classes of clients. The zero value has no lines.
type Caps struct{ lines []capLine }

// capLine is one line: conditions, and the greatest class of clients that meet all of them.
type capLine struct {
	class int
	uid   int // -1 for any
	name  string
}

// ReadCaps reads the greatest classes of clients. Each line is a class, and conditions:
//
//	9 uid=1000 name=detector*   # class 9 for programs of user 1000 with such a name
//	4 uid=1000
//	0
//
// The first line whose conditions a client meets counts. Patterns are those of path.Match. A client states its name
// itself: only the uid is certain.
func ReadCaps(file, text string) (c Caps, err error) {
	number := 0
	for line := range strings.Lines(text) {
		number++
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		l, err := readCap(words)
		if err != nil {
			return Caps{}, fmt.Errorf("%s:%d: %w", file, number, err)
		}
		c.lines = append(c.lines, l)
	}
	return c, nil
}

func readCap(words []string) (l capLine, err error) {
	l.uid = -1
	if l.class, err = strconv.Atoi(words[0]); err != nil || l.class < 0 || l.class >= sharing.Classes {
		return l, fmt.Errorf("%q is not a class from 0 to %d: begin the line with the class, as in 4 uid=1000", words[0], sharing.Classes-1)
	}
	for _, w := range words[1:] {
		if err := l.condition(w); err != nil {
			return l, err
		}
	}
	return l, nil
}

// condition adds one condition.
func (l *capLine) condition(word string) error {
	key, value, _ := strings.Cut(word, "=")
	switch key {
	case "uid":
		n, err := strconv.ParseUint(value, 10, 31)
		if err != nil {
			return fmt.Errorf("%q is not the number of a user: write it as in uid=1000", value)
		}
		l.uid = int(n)
	case "name":
		if _, err := path.Match(value, ""); err != nil || value == "" {
			return fmt.Errorf("%q is not a pattern: write it as in name=detector*", value)
		}
		l.name = value
	default:
		return fmt.Errorf("%q is not a condition: use uid=NUMBER or name=PATTERN", word)
	}
	return nil
}

// class returns the greatest class of a client. Without a line for it, users other than that of the server have
// at most othersClass.
func (c Caps) class(uid int, name string) int {
	for _, l := range c.lines {
		if l.matches(uid, name) {
			return l.class
		}
	}
	if uid == os.Getuid() {
		return sharing.Classes - 1
	}
	return othersClass
}

func (l capLine) matches(uid int, name string) bool {
	if l.uid >= 0 && l.uid != uid {
		return false
	}
	if l.name == "" {
		return true
	}
	ok, _ := path.Match(l.name, name)
	return ok
}
