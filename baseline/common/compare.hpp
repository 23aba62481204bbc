// Results beside what they should be.
#pragma once

#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "workload.hpp"

namespace reprise {

// Comparison is of the arrays that a workload leaves with what the CPU computed in doubles.
class Comparison {
public:
	// of compares an array; allowed is how far off an element may be that should have some value.
	template <class T, class Allowed>
	void of(const std::string &array, const T *got, const std::vector<double> &want, Allowed allowed) {
		for (std::size_t i = 0; i < want.size(); i++) {
			const auto off = std::abs(static_cast<double>(got[i]) - want[i]);
			if (std::isnan(off) || off > found_.max_error)
				found_.max_error = off;
			if (!(off <= allowed(want[i])) && found_.error.empty())
				found_.error = complaint(array, i, static_cast<double>(got[i]), want[i], allowed(want[i]));
		}
	}

	const Checked &found() const { return found_; }

private:
	static std::string complaint(const std::string &array, std::size_t i, double got, double want, double allowed) {
		std::ostringstream text;
		text << array << "[" << i << "] = " << got << ", want " << want << " within " << allowed;
		return text.str();
	}

	Checked found_;
};

} // namespace reprise
