package main

// main checks the result of each tenant.
func Example() {
	main()
	// Output: 3 requests
}
