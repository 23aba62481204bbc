// Package calibrate measures a device and writes down what it found as a device
// profile, which the simulator takes. It sees nothing of the device but the
// interface device.Device, so a simulated one is measured as a real one is, and
// must give back the profile it runs on.
//
// Three habits make a figure of a timing. Slopes: a quantity is timed at two
// sizes and the difference is divided by theirs, so that what does not grow with
// the size, the first launch, the marks of the clock, falls out. Pacing: work is
// enqueued behind a kernel that runs longer than the host needs to enqueue it, so
// that the device is timed and not the host. Medians: each slope is taken again
// until its samples agree, and how far they lay apart is kept beside the figure.
//
// What cannot be told from outside is taken over from a base profile, and says so.
package calibrate
