package optimizer

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestStrategiesByName(t *testing.T) {
	for text, want := range map[string]strategy{
		"serial":                 serial{},
		"roundrobin":             roundRobin{4},
		"roundrobin(1)":          roundRobin{1},
		"roundrobin(65536)":      roundRobin{65536},
		"levels":                 levels{},
		"levels(12)":             levels{12},
		"grcuda":                 grcuda{},
		"grcuda(disjoint)":       grcuda{},
		"grcuda(same-as-parent)": grcuda{sameAsParent: true},
	} {
		name, s, err := strategyNamed(text)
		assert.NoError(t, err, text)
		assert.Equal(t, text, name)
		assert.Equal(t, want, s, text)
	}
}

func TestMistakesInAStrategy(t *testing.T) {
	const lanes = "a number of lanes from 1 to 65536"
	for text, want := range map[string]string{
		"serial(1)":                    "strategy serial takes no parameter: write serial",
		"levels()":                     "strategy levels() lacks its parameter: write levels(k), or levels alone",
		"levels(0)":                    "strategy levels takes " + lanes + `, not "0"`,
		"levels(65537)":                "strategy levels takes " + lanes + `, not "65537"`,
		"levels(04)":                   "strategy levels takes " + lanes + `, not "04"`,
		"levels(+4)":                   "strategy levels takes " + lanes + `, not "+4"`,
		"levels(four)":                 "strategy levels takes " + lanes + `, not "four"`,
		"levels(99999999999999999999)": "strategy levels takes " + lanes + `, not "99999999999999999999"`,
		"grcuda(disjoin)":              `strategy grcuda takes disjoint or same-as-parent (did you mean "disjoint"?), not "disjoin"`,
		"levels(4":                     `strategy "levels(4" is not of the form name or name(parameter); in a shell, quote it`,
		"levels(4)x":                   `strategy "levels(4)x" is not of the form name or name(parameter); in a shell, quote it`,
		"levels((4))":                  `strategy "levels((4))" is not of the form name or name(parameter); in a shell, quote it`,
		"(4)":                          `unknown strategy ""; there are ` + usages(),
		"level(4)":                     `unknown strategy "level" (did you mean "levels"?); there are ` + usages(),
	} {
		assert.EqualError(t, Options{Strategy: text}.Check(), want)
	}
}

func usages() string {
	text := ""
	for i, d := range Strategies() {
		if i > 0 {
			text += ", "
		}
		text += d.Usage
	}
	return text
}

// Whatever the text, there is a strategy or an error, never both.
func FuzzStrategyName(f *testing.F) {
	for _, s := range []string{"", "serial", "levels(4)", "levels(", "grcuda(disjoint)", ")(", "levels(4))"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		name, s, err := strategyNamed(text)
		if err != nil {
			assert.Nil(t, s)
			return
		}
		assert.NotNil(t, s)
		if text != "" {
			assert.Equal(t, text, name, "a strategy has one spelling")
		}
	})
}
