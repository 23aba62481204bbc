// Package calibrate measures a device and writes the results as a device profile for the simulator. It uses only the
// interface device.Device, so a simulated device can be measured like a real one. The result for a simulated device
// must equal its profile.
//
// Three techniques turn times into figures.
//
//   - Slopes: a quantity is measured at two sizes, and the difference of the times is divided by that of the sizes. Costs
//     that do not depend on the size, such as the first launch or reading the clock, cancel.
//   - Pacing: work is enqueued behind a kernel that runs longer than the host needs for enqueuing, so that the time of the
//     device is measured and not that of the host.
//   - Medians: each slope is measured repeatedly until its samples agree. Their spread is kept with the figure.
//
// Figures that cannot be measured from outside are taken from a base profile, and are marked as such.
package calibrate
