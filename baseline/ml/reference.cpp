#include "reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ml {
namespace {

// Column is how a feature is normalised: its mean, and the inverse of its deviation, 0 where that is 0.
struct Column {
	double mean = 0, scale = 0;
};

std::vector<Column> columns(const Observations &o) {
	const auto rows = static_cast<double>(o.rows);
	std::vector<Column> all(features);
	std::vector<double> squares(features);
	for (std::size_t k = 0; k < o.x.size(); k++)
		all[k % features].mean += static_cast<double>(o.x[k]) / rows;
	for (std::size_t k = 0; k < o.x.size(); k++) {
		const auto d = static_cast<double>(o.x[k]) - all[k % features].mean;
		squares[k % features] += d * d / rows;
	}
	for (std::size_t j = 0; j < features; j++)
		if (squares[j] > 1e-12) // the features are whole numbers: less is a constant column's rounding
			all[j].scale = 1 / std::sqrt(squares[j]);
	return all;
}

// softmax brings a row to positive numbers that add up to 1.
void softmax(double *row) {
	const auto greatest = *std::max_element(row, row + classes);
	double sum = 0;
	for (std::size_t c = 0; c < classes; c++)
		sum += row[c] = std::exp(row[c] - greatest);
	for (std::size_t c = 0; c < classes; c++)
		row[c] /= sum;
}

} // namespace

Ensemble classify(const Observations &o) {
	const auto normal = columns(o);
	Ensemble e;
	e.bayes.resize(o.rows * classes);
	e.ridge.resize(o.rows * classes);
	for (std::size_t i = 0; i < o.rows; i++) {
		auto *bayes = &e.bayes[i * classes], *ridge = &e.ridge[i * classes];
		for (std::size_t c = 0; c < classes; c++) {
			bayes[c] = static_cast<double>(o.log_prior[c]);
			ridge[c] = static_cast<double>(o.intercept[c]);
			for (std::size_t q = 0; q < features; q++) {
				const auto x = static_cast<double>(o.x[i * features + q]);
				bayes[c] += x * static_cast<double>(o.log_prob[c * features + q]);
				ridge[c] += (x - normal[q].mean) * normal[q].scale * static_cast<double>(o.coeff[c * features + q]);
			}
		}
		softmax(bayes); // Bayes' rule, on logarithms
		softmax(bayes);
		softmax(ridge);
	}
	return e;
}

double Ensemble::shortfall(std::size_t row, std::int32_t of) const {
	if (of < 0 || static_cast<std::size_t>(of) >= classes)
		return std::numeric_limits<double>::infinity();
	const auto score = [&](std::size_t c) { return bayes[row * classes + c] + ridge[row * classes + c]; };
	auto best = score(0);
	for (std::size_t c = 1; c < classes; c++)
		best = std::max(best, score(c));
	return best - score(static_cast<std::size_t>(of));
}

} // namespace ml
