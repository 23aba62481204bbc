#include "reference.hpp"

#include <cmath>

namespace bs {
namespace {

// cumulative is the normal distribution by formula 26.2.17 of Abramowitz and Stegun, which the benchmark prescribes.
double cumulative(double d) {
	if (d > 0)
		return 1 - cumulative(-d);
	constexpr double coefficients[] = {0.319381530, -0.356563782, 1.781477937, -1.821255978, 1.330274429};
	const double t = 1 / (1 - 0.2316419 * d);
	double sum = 0, power = 1;
	for (const auto b : coefficients) {
		power *= t;
		sum += b * power;
	}
	return 0.3989422804 * std::exp(-d * d / 2) * sum;
}

double price(double spot) {
	const double deviation = volatility * std::sqrt(years);
	const double d1 = (std::log(spot / strike) + (rate + volatility * volatility / 2) * years) / deviation;
	return spot * cumulative(d1) - strike * std::exp(-rate * years) * cumulative(d1 - deviation);
}

} // namespace

std::vector<double> prices(const std::vector<double> &spot) {
	std::vector<double> all;
	all.reserve(spot.size());
	for (const auto s : spot)
		all.push_back(price(s));
	return all;
}

} // namespace bs
