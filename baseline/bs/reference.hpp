// What bs should have computed, on the CPU.
#pragma once

#include <vector>

namespace bs {

// What all calls have in common.
constexpr double rate = 0.08;		// riskless, per year
constexpr double volatility = 0.3; // per square root of a year
constexpr double years = 1;		// to expiry
constexpr double strike = 60;

// prices of European calls at these spot prices, after Black and Scholes.
std::vector<double> prices(const std::vector<double> &spot);

} // namespace bs
