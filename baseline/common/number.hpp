// Numbers on command lines.
#pragma once

#include <charconv>
#include <stdexcept>
#include <string>

namespace reprise {

// UsageError is a command line that makes no sense, in one sentence.
struct UsageError : std::runtime_error {
	using std::runtime_error::runtime_error;
};

// number is the value of a flag, from least to most.
template <class T> T number(const std::string &flag, const std::string &text, T least, T most) {
	T value{};
	const auto *end = text.data() + text.size();
	const auto [stop, error] = std::from_chars(text.data(), end, value);
	if (error != std::errc() || stop != end || value < least || value > most)
		throw UsageError(flag + " " + text + ": use a whole number from " + std::to_string(least) + " to " + std::to_string(most));
	return value;
}

} // namespace reprise
