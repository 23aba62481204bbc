#include "record.hpp"

#include "json.hpp"

namespace reprise {

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
