package tracer

// sites holds the return addresses of Launch that callerPC returned as well. A launch from one of them
// costs no walk up the stack, which was a third of a repeated launch.
type sites struct {
	known map[uintptr]bool
	last  uintptr // the one found last
}

// has reports whether ret is a known return address. Zero is not one.
func (s *sites) has(ret uintptr) bool {
	if ret == 0 || ret != s.last && !s.known[ret] {
		return false
	}
	s.last = ret
	return true
}

// learn makes ret known if it equals pc, which callerPC returned for the same call, and returns pc. The two differ
// where the compiler has put a wrapper in between, as for a method of an interface.
func (s *sites) learn(ret, pc uintptr) uintptr {
	if ret == pc {
		if s.known == nil {
			s.known = map[uintptr]bool{}
		}
		s.known[ret], s.last = true, ret
	}
	return pc
}
