package optimizer

// Check returns the error that Plan would answer to the names in o: an unknown
// strategy or pass, or a required pass left out.
func (o Options) Check() error {
	_, err := selectPasses(&o)
	return err
}
