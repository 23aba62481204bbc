package interp

// clocks are the special registers that advance. The clock of a multiprocessor
// continues from launch to launch. All blocks of a launch start at the same time.
var clocks = map[string]func(w *warp) uint64{
	"%clock":          (*warp).cycles,
	"%clock64":        (*warp).cycles,
	"%clock_hi":       func(w *warp) uint64 { return w.cycles() >> 32 },
	"%globaltimer":    (*warp).nanoseconds,
	"%globaltimer_lo": (*warp).nanoseconds,
	"%globaltimer_hi": func(w *warp) uint64 { return w.nanoseconds() >> 32 },
}

// defaultClockMHz is the clock rate of a launch that does not set one.
const defaultClockMHz = 1000

// cycles returns the clock of the warp's multiprocessor: the start of the launch plus the
// time on the critical path of the warp.
func (w *warp) cycles() uint64 {
	l := w.eng.launch
	return uint64(l.Start*orDefault(l.ClockMHz, defaultClockMHz)/1000 + w.clock.cycles)
}

// nanoseconds returns the same time as cycles in nanoseconds.
func (w *warp) nanoseconds() uint64 {
	l := w.eng.launch
	return uint64(l.Start + w.clock.cycles*1000/orDefault(l.ClockMHz, defaultClockMHz))
}
