package main

// The result is an x of 1 after a full circle.
func Example() {
	main()
	// Output: x is 1.000 again
}
