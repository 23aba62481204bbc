// Tests of what the baseline programs share. `make baseline-asan` builds and runs them.
#pragma once

#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "driver.hpp"

namespace reprise::tests {

struct Test {
	const char *name;
	void (*run)();
};

// all lists the tests, each of which a TEST adds.
inline std::vector<Test> &all() {
	static std::vector<Test> list;
	return list;
}

// fail notes that a test failed, and lets it go on.
void fail(const char *file, int line, const std::string &what);

template <class Got, class Want> void equal(const char *file, int line, const char *text, const Got &got, const Want &want) {
	if (got == want)
		return;
	std::ostringstream s;
	s << text << " = " << got << ", want " << want;
	fail(file, line, s.str());
}

// complaint is what f throws, "" when it throws nothing.
std::string complaint(const std::function<void()> &f);

} // namespace reprise::tests

#define TEST(name)                                                                     \
	static void test_##name();                                                           \
	static const bool added_##name = (reprise::tests::all().push_back({#name, test_##name}), true); \
	static void test_##name()

#define EQUAL(got, want) reprise::tests::equal(__FILE__, __LINE__, #got, got, want)
