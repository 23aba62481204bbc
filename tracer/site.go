package tracer

// sites caches the return addresses of Launch for which callerPC has returned the same address. A launch
// from one of them needs no walk up the stack, which took a third of the time of a repeated launch.
type sites struct {
	known map[uintptr]bool
	last  uintptr // the address found last: a loop looks up one again and again
}

// has reports whether ret is a known return address. Zero is not one.
func (s *sites) has(ret uintptr) bool {
	if ret == 0 || ret != s.last && !s.known[ret] {
		return false
	}
	s.last = ret
	return true
}

// learn adds ret if it equals pc, which callerPC has returned for the same call, and returns pc. The two
// differ where the compiler inserts a wrapper, as for a call through an interface.
func (s *sites) learn(ret, pc uintptr) uintptr {
	if ret == pc {
		if s.known == nil {
			s.known = map[uintptr]bool{}
		}
		s.known[ret], s.last = true, ret
	}
	return pc
}
