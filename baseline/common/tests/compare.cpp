#include "compare.hpp"

#include <limits>

#include "tests.hpp"

using namespace reprise;

namespace {

Checked compared(const std::vector<float> &got, const std::vector<double> &want) {
	Comparison c;
	c.of("res", got.data(), want, [](double w) { return 0.01 * w; });
	return c.found();
}

} // namespace

TEST(comparison) {
	EQUAL(compared({1, 2}, {1, 2}).error, "");
	const auto near = compared({1.0078125f, 2}, {1, 2.015625});
	EQUAL(near.error, "");
	EQUAL(near.max_error, 0.015625);
	const auto off = compared({1, 3, 9}, {1, 2, 3});
	EQUAL(off.error, "res[1] = 3, want 2 within 0.02"); // the first
	EQUAL(off.max_error, 6);
}

// A NaN is wrong wherever it is, and no later element hides it.
TEST(comparison_of_nan) {
	const auto nan = std::numeric_limits<float>::quiet_NaN();
	for (const auto &got : {std::vector<float>{nan, 2}, std::vector<float>{1, nan}}) {
		const auto found = compared(got, {1, 2});
		EQUAL(std::isnan(found.max_error), true);
		EQUAL(found.error.empty(), false);
	}
}
