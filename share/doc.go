// Package share runs several programs on one device where some matter more than others: a detector that has to answer
// beside a job that may wait.
//
//	s, err := share.New(dev, share.Fill(share.FillOptions{}))
//	detector, err := s.Program("detector", share.Priority(9), find, classify)   // two traces: the host works in between
//	job, err := s.Program("job", share.Priority(0), step)
//
//	go func() { for job.Replay(ctx) == nil {} }()
//	for frame := range frames {
//		err = detector.Stage(ctx, 0)       // at once, on the stream with the greatest priority
//		boxes := choose(frame)             // meanwhile the job fills the gap
//		err = detector.Stage(ctx, 1)
//	}
//
// A Policy decides what runs when. Fill keeps the delay of the important program below a target, and Scheduler.Bound
// states how long it waits at most. The other policies are those of devices and of published systems, for comparison.
//
// Dial shares a device with programs of other processes: a server, `reprise share serve`, decides for all of them.
//
// Kernels are not interrupted: a program that is cut into pieces leaves the device at the end of a piece. Programs that
// run at the same time share the bandwidth of the memory.
package share
