#include "record.hpp"

#include <limits>

#include "tests.hpp"

using namespace reprise;

namespace {

// field is the text of a field's value in a record.
std::string field(const Record &r, const std::string &name) {
	const auto json = r.json();
	const auto key = "\"" + name + "\":";
	const auto at = json.find(key);
	if (at == std::string::npos)
		return "nothing";
	const auto from = at + key.size();
	return json.substr(from, json.find_first_of(",}", from) - from);
}

} // namespace

TEST(record_whole) {
	Record r;
	r.workload = "vec", r.memory = "managed", r.device = "sim:h200", r.device_name = "Simulated H200", r.version = "async";
	r.compiler = "g++ 12", r.commit = "0123abcd-dirty";
	r.size = 1000, r.sample = 4, r.threads = 32, r.blocks = 1056, r.iterations = 30, r.simulated = true;
	r.plan = {7, 6, 2, 1};
	r.driver_calls = 12;
	r.replay_us = 13.8404, r.min_us = 13, r.max_us = 14.25, r.event_us = 0.0005;
	r.ptx_hash = 0xabc;
	EQUAL(r.json(), R"({"workload":"vec","size":1000,"memory":"managed","threads":32,"blocks":1056,"device":"sim:h200",)"
					R"("device_name":"Simulated H200","simulated":true,"language":"c++","strategy":"hand","backend":"async","ops":7,)"
					R"("edges":6,"reduced_edges":6,"lanes":2,"syncs":1,"driver_calls":12,"iterations":30,"sample":4,"replay_us":13.840,)"
					R"("min_us":13.000,"max_us":14.250,"event_us":0.001,"checked":false,"max_error":0,"ok":true,"input_hash":"",)"
					R"("ptx_hash":"0000000000000abc","compiler":"g++ 12","commit":"0123abcd-dirty"})");
}

TEST(record_of_a_burst) {
	Record r;
	EQUAL(field(r, "burst"), "nothing");
	EQUAL(field(r, "copies"), "nothing");
	r.burst = 16, r.burst_us = 22.8904, r.copies = 4, r.added_bytes = 28312092;
	EQUAL(field(r, "burst"), "16");
	EQUAL(field(r, "burst_us"), "22.890");
	EQUAL(field(r, "copies"), "4");
	EQUAL(field(r, "added_bytes"), "28312092");
}

TEST(record_checked) {
	Record r;
	r.checked = true, r.ok = false, r.error = "res = 1\n\"want\" \\2";
	r.input_hash = UINT64_MAX;
	EQUAL(field(r, "input_hash"), R"("ffffffffffffffff")");
	EQUAL(field(r, "error"), R"("res = 1\u000a\"want\" \\2")");
	EQUAL(field(r, "ok"), "false");
	EQUAL(field(r, "sample"), "nothing");
}

// JSON knows neither.
TEST(record_infinite) {
	Record r;
	for (const double e : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
		r.max_error = e;
		EQUAL(field(r, "max_error"), "1.79769e+308");
	}
	r.replay_us = std::numeric_limits<double>::max(); // longer than any other number
	EQUAL(field(r, "replay_us").size(), 313u);
}
