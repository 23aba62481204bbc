package phrase

import (
	"fmt"
	"reflect"
)

// Number returns a Go number with its type: 7 (int). Anything else is named by its type alone. Number does not retain v;
// package fmt would, so that callers that convert numbers would have to allocate each.
func Number(v any) string {
	rv, typ := reflect.ValueOf(v), reflect.TypeOf(v)
	switch {
	case rv.CanInt():
		return fmt.Sprintf("%d (%v)", rv.Int(), typ)
	case rv.CanUint():
		return fmt.Sprintf("%d (%v)", rv.Uint(), typ)
	case rv.CanFloat():
		return fmt.Sprintf("%v (%v)", rv.Float(), typ)
	}
	return fmt.Sprintf("a value of type %v", typ)
}
