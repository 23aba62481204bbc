#include "tests.hpp"

#include <cstdio>
#include <exception>

namespace reprise::tests {
namespace {

int failures = 0;

} // namespace

void fail(const char *file, int line, const std::string &what) {
	failures++;
	std::fprintf(stderr, "%s:%d: %s\n", file, line, what.c_str());
}

std::string complaint(const std::function<void()> &f) {
	try {
		f();
	} catch (const std::exception &e) {
		return e.what();
	}
	return "";
}

} // namespace reprise::tests

int main() {
	for (const auto &test : reprise::tests::all()) {
		const auto thrown = reprise::tests::complaint(test.run);
		if (!thrown.empty())
			reprise::tests::fail(test.name, 0, thrown);
	}
	std::printf("%zu tests, %d failures\n", reprise::tests::all().size(), reprise::tests::failures);
	return reprise::tests::failures == 0 ? 0 : 1;
}
