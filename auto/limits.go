package auto

const (
	// maxPeriod is the longest repetition that is detected, in calls. A replay begins when its last call has arrived, and
	// until then the device may be idle. Two repetitions are kept in the window, at some 200 bytes a call.
	maxPeriod = 1000
	// minReplay is the shortest repetition that is replayed, in calls, unless the program looks at results more often: a
	// launch of a graph costs the host about as much as one of a kernel.
	minReplay = 4
	// watchLimit is the number of unmatched calls without a replay after which watching pauses. Then about two periods in
	// sixteen are watched, which makes the cost of watching a hundredth of a launch.
	watchLimit = 32 * maxPeriod
	// matchWeight is what a call that may be part of a repetition counts towards watchLimit. It costs three to four times
	// as much to watch as an unmatched one, and a program of only such calls that repeats nothing is left alone after two
	// periods.
	matchWeight = watchLimit / (2 * maxPeriod)
	// maxBodies is the capacity of the cache of repetitions. The least recently used one is evicted.
	maxBodies = 32
)
