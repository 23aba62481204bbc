package bench

import (
	"fmt"
	"strconv"
	"strings"
)

// Shape is the shape of a product of matrices: M x K times K x N.
type Shape struct{ M, N, K int }

// String returns "MxNxK", and "" for the zero Shape.
func (s Shape) String() string {
	if s == (Shape{}) {
		return ""
	}
	return fmt.Sprintf("%dx%dx%d", s.M, s.N, s.K)
}

// maxExtent bounds each number of a shape.
const maxExtent = 1 << 15

// ParseShape parses "MxNxK".
func ParseShape(text string) (s Shape, err error) {
	words := strings.Split(text, "x")
	if len(words) != 3 {
		return Shape{}, fmt.Errorf("%q: write three numbers, as in 256x128x1152", text)
	}
	for i, extent := range []*int{&s.M, &s.N, &s.K} {
		if *extent, err = strconv.Atoi(words[i]); err != nil || *extent < 1 || *extent > maxExtent {
			return Shape{}, fmt.Errorf("%q: %q is not a number from 1 to %d", text, words[i], maxExtent)
		}
	}
	return s, nil
}
