package auto

const (
	// maxPeriod is the longest repetition that is detected, in calls. A replay begins when its last call has
	// arrived, and until then the device may be idle. The window holds two repetitions, at some 200 bytes a call.
	maxPeriod = 1000
	// minReplay is the shortest repetition that is replayed, in calls, unless the program reads results more
	// often: launching a graph costs the host about as much as launching a kernel.
	minReplay = 4
	// watchLimit is the number of unmatched calls without a replay after which watching pauses. From then on, 2 of
	// every 16 periods of maxPeriod calls are watched. On average, watching then takes a hundredth of the time of a
	// launch.
	watchLimit = 32 * maxPeriod
	// matchWeight is the weight towards watchLimit of a call that may be part of a repetition. Watching such a call
	// takes three to four times as long as an unmatched one. With this weight, watching pauses after 2*maxPeriod
	// such calls that lead to no replay.
	matchWeight = watchLimit / (2 * maxPeriod)
	// maxBodies is the capacity of the cache of repetitions. The least recently used one is evicted.
	maxBodies = 32
)
