// What the ensemble should have computed, on the CPU and in double precision.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ml {

constexpr std::size_t features = 200, classes = 10;

// Observations are what the classifiers start from.
struct Observations {
	std::size_t rows = 0;
	std::vector<std::int32_t> x;			// rows x features
	std::vector<float> log_prob, log_prior; // naive Bayes: classes x features, classes
	std::vector<float> coeff, intercept;	// ridge regression: classes x features, classes
};

// Ensemble is what the two classifiers make of each row, after softmax: rows x classes.
struct Ensemble {
	std::vector<double> bayes, ridge;

	// shortfall is how far the score of a class is from the best of its row; infinite for what is no class.
	double shortfall(std::size_t row, std::int32_t of) const;
};

Ensemble classify(const Observations &o);

} // namespace ml
