package optimizer

// Check returns the error that Plan would answer to the names in o: an unknown
// strategy, pass or profile, or a pass left out that another needs.
func (o Options) Check() error {
	_, err := selectPasses(&o)
	return err
}
