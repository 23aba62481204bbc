// The ways in which a workload runs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "workload.hpp"

namespace reprise {

// Plan is the shape of what a version enqueues.
struct Plan {
	int ops = 0;
	int edges = 0;
	int lanes = 0;
	int syncs = 0;
};

// Version is a workload, ready to iterate.
class Version {
public:
	virtual ~Version() = default;

	// iterate returns when the iteration has ended.
	virtual void iterate() = 0;
	// iterate_between does the same between two events.
	virtual void iterate_between(CUevent start, CUevent end) = 0;
	// burst submits n replays back to back, and returns when all have ended. The host neither writes inputs nor reads
	// results between them. sync has no such form: its host waits after each operation.
	virtual void burst(int n) = 0;
	// plan is that of the last iteration.
	virtual Plan plan() const = 0;
};

// version_names lists the versions in the order in which they run.
const std::vector<std::string> &version_names();

// copies_of is the number of workloads that a version runs, each with memory of its own.
int copies_of(const std::string &name);

// make_version takes copies_of(name) workloads.
std::unique_ptr<Version> make_version(const std::string &name, const Device &device, const Workloads &workloads);

} // namespace reprise
