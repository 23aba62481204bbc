package optimizer

// Check returns the error that Plan would return for the names in o: an unknown
// strategy, pass or profile, or a pass left out that another one requires.
func (o Options) Check() error {
	_, err := selectPasses(&o)
	return err
}
