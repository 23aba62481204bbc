#include "record.hpp"

#include <cfloat>
#include <cstdio>
#include <sstream>

namespace reprise {
namespace {

template <class... Args> std::string format(const char *how, Args... args) {
	std::string text(static_cast<std::size_t>(std::snprintf(nullptr, 0, how, args...)), '\0');
	std::snprintf(text.data(), text.size() + 1, how, args...);
	return text;
}

std::string hexadecimal(std::uint64_t hash) { return format("%016llx", static_cast<unsigned long long>(hash)); }

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

// Object writes the fields of a JSON object.
class Object {
public:
	void text(const char *name, const std::string &value) { field(name, quoted(value)); }
	void flag(const char *name, bool value) { field(name, value ? "true" : "false"); }
	void number(const char *name, long value) { field(name, std::to_string(value)); }
	void time(const char *name, double us) { field(name, format("%.3f", us)); }
	// JSON knows no infinity and no NaN.
	void number(const char *name, double value) { field(name, format("%.6g", value <= DBL_MAX ? value : DBL_MAX)); }
	std::string json() const { return "{" + fields_ + "}"; }

private:
	void field(const char *name, const std::string &value) {
		fields_ += (fields_.empty() ? "" : ",") + quoted(name) + ":" + value;
	}

	std::string fields_;
};

} // namespace

std::string Record::json() const {
	Object o;
	o.text("workload", workload);
	o.number("size", size);
	o.text("memory", memory);
	o.number("threads", long{threads});
	o.number("blocks", long{blocks});
	o.text("device", device);
	o.text("device_name", device_name);
	o.flag("simulated", simulated);
	o.text("language", "c++");
	o.text("strategy", "hand");
	o.text("backend", version);
	o.number("ops", long{plan.ops});
	o.number("edges", long{plan.edges});
	o.number("reduced_edges", long{plan.edges});
	o.number("lanes", long{plan.lanes});
	o.number("syncs", long{plan.syncs});
	o.number("driver_calls", static_cast<long>(driver_calls));
	o.number("iterations", long{iterations});
	if (sample > 0)
		o.number("sample", sample);
	o.time("replay_us", replay_us);
	o.time("min_us", min_us);
	o.time("max_us", max_us);
	o.time("event_us", event_us);
	if (copies > 1) {
		o.number("copies", long{copies});
		o.number("added_bytes", added_bytes);
	}
	if (burst > 0) {
		o.number("burst", long{burst});
		o.time("burst_us", burst_us);
	}
	o.flag("checked", checked);
	o.number("max_error", max_error);
	o.flag("ok", ok);
	if (!error.empty())
		o.text("error", error);
	o.text("input_hash", checked ? hexadecimal(input_hash) : "");
	o.text("ptx_hash", hexadecimal(ptx_hash));
	o.text("compiler", compiler);
	o.text("commit", commit);
	return o.json();
}

} // namespace reprise
