// JSON objects on one line.
#pragma once

#include <cstdint>
#include <string>

namespace reprise {

// Object collects the fields of a JSON object.
class Object {
public:
	void text(const char *name, const std::string &value);
	void flag(const char *name, bool value) { field(name, value ? "true" : "false"); }
	void number(const char *name, long value) { field(name, std::to_string(value)); }
	// number writes six digits. JSON has no infinity and no NaN: the greatest number replaces both.
	void number(const char *name, double value);
	// time writes microseconds with three decimals.
	void time(const char *name, double us);
	std::string json() const { return "{" + fields_ + "}"; }

private:
	void field(const char *name, const std::string &value);

	std::string fields_;
};

std::string hexadecimal(std::uint64_t hash);

} // namespace reprise
