#include "json.hpp"

#include <cfloat>
#include <cstdio>

namespace reprise {
namespace {

template <class... Args> std::string format(const char *how, Args... args) {
	std::string text(static_cast<std::size_t>(std::snprintf(nullptr, 0, how, args...)), '\0');
	std::snprintf(text.data(), text.size() + 1, how, args...);
	return text;
}

std::string quoted(const std::string &text) {
	std::string q = "\"";
	for (const char c : text) {
		if (c == '"' || c == '\\')
			q += '\\';
		if (static_cast<unsigned char>(c) < 0x20)
			q += format("\\u%04x", static_cast<unsigned>(c));
		else
			q += c;
	}
	return q + '"';
}

} // namespace

void Object::text(const char *name, const std::string &value) { field(name, quoted(value)); }

void Object::number(const char *name, double value) { field(name, format("%.6g", value <= DBL_MAX ? value : DBL_MAX)); }

void Object::time(const char *name, double us) { field(name, format("%.3f", us)); }

void Object::field(const char *name, const std::string &value) { fields_ += (fields_.empty() ? "" : ",") + quoted(name) + ":" + value; }

std::string hexadecimal(std::uint64_t hash) { return format("%016llx", static_cast<unsigned long long>(hash)); }

} // namespace reprise
