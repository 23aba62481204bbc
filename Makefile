# Most targets require only Go. Without a C compiler, build leaves the CUDA path out. Targets that require a C compiler
# or nvcc report it. Run `make` for the list.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c

GO ?= $(shell command -v go || echo /usr/local/go/bin/go)
FUZZTIME ?= 30s
# RACE_PKGS are the packages that start goroutines or share data between them. In all others the race detector would
# find nothing and take ten times as long. RACE_SIM selects the tests of the simulator in which blocks run concurrently
# and share data. All of its tests would take ten minutes, and those that count allocations cannot pass, because
# sync.Pool drops objects at random under the detector. RACE_SKIP are tests of replays that only check virtual times or
# large numbers.
RACE_PKGS ?= ./internal/bench/reference/... ./device/... ./graphexec/... ./internal/parallel ./ir/... ./tracer/... ./tenant ./internal/transport/...
RACE_SKIP ?= TestAutoIsAsQuickAsTheBest|TestLaunchesHaveThePriorityOfTheSchedule|TestMeasuredPlansAreTheQuickest|TestLoopsWithHugeNumbersEnd|TestNumbersOfALoopMayBeGreat
RACE_SIM ?= Worker|Order|Race|Record|Update|Blocks|Print|Scan|Histogram|Finding|Memo([A-Z]|$$)
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

.PHONY: help
help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# The environment that builds code with the tag cuda: the folders of our cuda.h and libcuda.a come first.
# gorgonia.org/cu adds folders of CUDA toolkits, which are searched after these.
CC := $(shell $(GO) env CC)
HAVE_CC := $(shell command -v $(firstword $(CC)))
CUDA_ENV := CGO_ENABLED=1 CGO_CFLAGS="-g -O2 -I$(CURDIR)/cuda/include" CGO_LDFLAGS="-g -O2 -L$(CURDIR)/build/lib"
CUDA_PKGS := ./cuda/... ./internal/lazycuda ./cmd/... ./scripts

# A hash of the simulator's sources. By it, compare checks that bin/reprise and libcudasim.so have equal virtual times.
SIMULATOR := sim internal/sim internal/des internal/interp internal/ptx device cuda/simabi cuda/libcudasim
SOURCES = $(shell cat $$(find $(SIMULATOR) -type f ! -name '*_test.go' ! -path '*/testdata/*' | LC_ALL=C sort) | sha256sum | cut -c1-16)
NOTE_SOURCES = -X=github.com/reprise-gpu/reprise/internal/sim.Sources=$(SOURCES)

# A hash of the sources of the C++ programs. The revision is set here because go records none in a linked worktree.
BASELINE_SOURCES = $(shell cat $$(find baseline cuda/include internal/lazycuda internal/kernels internal/bench/scale/programs solver/internal/kernels -regex '.*\.\(cpp\|hpp\|ptx\|def\|[chS]\)' \
	! -path '*/tests/*' | LC_ALL=C sort) | sha256sum | cut -c1-16)
REVISION = $(shell git describe --always --dirty --abbrev=12 2>/dev/null)
NOTES = $(NOTE_SOURCES) -X=github.com/reprise-gpu/reprise/internal/bench/compare.Sources=$(BASELINE_SOURCES) \
	-X=github.com/reprise-gpu/reprise/internal/bench.revision=$(REVISION)

# -buildmode=pie: this program and libcudasim then share compiled packages, which saves a third of their first build.
.PHONY: build
ifdef HAVE_CC
build: build/lib/libcuda.a ## build bin/reprise; without a C compiler it only simulates
	@rm -f bin/reprise # go does not see that libcuda.a is new
	$(CUDA_ENV) $(GO) build -tags cuda -buildmode=pie -buildvcs=auto -ldflags '$(NOTES)' -o bin/reprise ./cmd/reprise
else
build:
	@echo "there is no C compiler $(CC): bin/reprise will simulate and find no GPU" >&2
	CGO_ENABLED=0 $(GO) build -buildvcs=auto -ldflags '$(NOTES)' -o bin/reprise ./cmd/reprise
endif

LAZYCUDA := internal/lazycuda
LAZYCUDA_OBJECTS := $(addprefix build/lib/,trampoline.o resolve.o provider.o absent.o)

.PHONY: lib
lib: build/lib/libcuda.a ## build the driver's trampolines, build/lib/libcuda.a (needs a C compiler)

build/lib/libcuda.a: $(LAZYCUDA_OBJECTS)
	@rm -f $@
	$(AR) rcs $@ $^

$(LAZYCUDA_OBJECTS): $(wildcard $(LAZYCUDA)/*.h $(LAZYCUDA)/*.def cuda/include/*.h) Makefile | build/lib

build/lib/%.o: $(LAZYCUDA)/%.c
	$(CC) -std=gnu11 -O2 -g -fPIC -Wall -Wextra -Werror -Icuda/include -c $< -o $@

build/lib/%.o: $(LAZYCUDA)/%.S
	$(CC) -g -c $< -o $@

build/lib:
	@mkdir -p $@

# For go build and go test with -tags cuda by hand: eval "$(make -s cgo-env)"
.PHONY: cgo-env
cgo-env: build/lib/libcuda.a ## print the variables that `go test -tags cuda ./cuda/...` needs
	@echo 'export $(CUDA_ENV)'

# With the default GOGC of 100, garbage collection takes a quarter of the time of the tests.
.PHONY: test
test: export GOGC := $(or $(GOGC),400)
test: ## run every test
	$(GO) test -timeout 30m ./...

PROGRAMS ?= 20000

.PHONY: random
random: ## replay PROGRAMS (20000) random programs under random plans and compare every byte with plain calls
	$(GO) test -count=1 -timeout 2h ./graphexec -run '^TestRandomPrograms$$' -programs $(PROGRAMS)

.PHONY: random-ranks
random-ranks: ## run PROGRAMS random programs on random machines of several devices, and compare every byte with one device
	$(GO) test -count=1 -timeout 4h ./internal/ranks -run '^TestRandom$$' -cases $(PROGRAMS)
	$(GO) test -count=1 -timeout 4h ./internal/ranks -run '^TestPlantedMissingTransfers$$' -v -cases $(PROGRAMS)

# -count=1: the test cache does not detect a new libcuda.a.
.PHONY: test-cuda
test-cuda: build/lib/libcuda.a ## run the tests of the CUDA path, and gorgonia's, on the simulated driver (needs a C compiler)
	REPRISE_LIBCUDA=sim $(CUDA_ENV) $(GO) test -count=1 -timeout 30m -tags cuda $(CUDA_PKGS)

.PHONY: gorgonia-test
gorgonia-test: build/lib/libcuda.a ## run the tests of gorgonia.org/cu alone (needs a C compiler)
	$(CUDA_ENV) $(GO) test -count=1 -timeout 30m -tags cuda ./cuda/gorgonia

# Two targets, because they skip different tests. With -j they run in parallel.
.PHONY: race race-replays race-simulator
race: race-replays race-simulator ## run the quick tests under the race detector (needs a C compiler)
race-replays:
	CGO_ENABLED=1 $(GO) test -race -short -timeout 30m -skip '$(RACE_SKIP)' $(RACE_PKGS)
race-simulator:
	CGO_ENABLED=1 $(GO) test -race -short -timeout 30m -run '$(RACE_SIM)' ./sim ./internal/sim/... ./internal/interp/...

.PHONY: lint
lint: ## gofmt, go mod tidy, go vet, staticcheck
	@unformatted=$$($$($(GO) env GOROOT)/bin/gofmt -l .); \
	if [ -n "$$unformatted" ]; then echo "not gofmt'ed, run gofmt -w on:" $$unformatted >&2; exit 1; fi
	@$(GO) mod tidy -diff || { echo "go.mod or go.sum is not tidy, run go mod tidy" >&2; exit 1; }
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...
ifdef HAVE_CC
	$(MAKE) --no-print-directory lib
	$(CUDA_ENV) $(GO) vet -tags cuda $(CUDA_PKGS) $(MPI_PKGS)
	$(CUDA_ENV) $(GO) run $(STATICCHECK) -tags cuda $(CUDA_PKGS) $(MPI_PKGS)
else
	@echo "there is no C compiler $(CC): the code with the tag cuda is left out"
endif

.PHONY: api
api: ## compare the exported API with that of the last release
	scripts/api.sh

# By default, go minimizes an input that adds coverage for a minute, which would take the whole run.
.PHONY: fuzz
fuzz: ## run each fuzz target for FUZZTIME (30s)
	@for pkg in $$(grep -rl '^func Fuzz' --include='*_test.go' . | xargs -n 1 dirname | sort -u); do \
		targets=$$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); \
		for target in $$targets; do \
			echo "fuzz $$pkg $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1s $$pkg; \
		done; \
	done

.PHONY: ptx
ptx: ## compile the .cu files to PTX (needs nvcc); no diff when nothing changed
	cuda/compile.sh baseline/solver internal/kernels device/devicetest examples/cluster examples/first examples/heat examples/tenants internal/until internal/bench/scale/programs internal/sim/testdata/kernels solver/internal/kernels

.PHONY: report-web
report-web: ## build the page of reprise report from its sources (needs npm)
	cd internal/report/web && npm ci --no-audit --no-fund && npm run build

.PHONY: bench
bench: ## run the benchmarks on the default device
	$(GO) run ./cmd/reprise bench

.PHONY: demo
demo: ## compare one workload, traced in Go and hand-written in C++ (needs g++)
	@$(MAKE) --no-print-directory -j "$$(nproc)" build libcudasim $(BASELINE_OUT)/img
	bin/reprise compare img --size 512 --burst 0

.PHONY: compare
compare: build baseline libcudasim ## compare the six workloads, traced in Go and hand-written in C++ (needs g++)
	bin/reprise compare --max-ratio 1 --min-throughput 1.3

.PHONY: benchmarks
benchmarks: ## write docs/benchmarks: compare at the sizes of the GrCUDA evaluation, sampled (half an hour; continues after an interrupt)
	scripts/benchmarks.sh

.PHONY: bench-merge
bench-merge: build ## measure what the pass merge gains for workloads, networks and solvers (some minutes); fails if one is slower
	scripts/merge.sh

.PHONY: validate
validate: ## compare predicted times of kernels with published ones (a quarter of a minute); VALIDATE=FILE.csv compares with others
	$(GO) run ./cmd/reprise validate $(VALIDATE)

.PHONY: bench-sim
bench-sim: ## time the simulator's interpreter: lane-instructions per second and core
	$(GO) test ./internal/sim -run '^$$' -bench '^BenchmarkSim$$' -benchtime 1s

# About five minutes on two idle cores. Boost and NetworkX are left out if they are not installed. A missed goal is an
# error. For one shape or one family of graphs: make bench-plan BENCH_PLAN_FLAGS='-family far'
BENCH_PLAN := build/bench-plan
PYTHON ?= python3

.PHONY: bench-plan
bench-plan: ## time planning up to 10^6 launches, every strategy on fork-joins, trees, stencils and others, and the reduction against Boost's
	@mkdir -p $(BENCH_PLAN)
	$(GO) build -o $(BENCH_PLAN)/planning ./cmd/benchplan
	@peers=(); \
	if $(CXX) -std=c++17 -O3 -DNDEBUG -o $(BENCH_PLAN)/boost cmd/benchplan/peers/boost.cpp 2>$(BENCH_PLAN)/boost.log; then \
		peers+=(-boost $(BENCH_PLAN)/boost); \
	else \
		echo "without Boost, which does not compile ($(BENCH_PLAN)/boost.log): apt-get install g++ libboost-graph-dev" >&2; \
	fi; \
	if $(PYTHON) -c 'import networkx' 2>/dev/null; then \
		peers+=(-python $(PYTHON)); \
	else \
		echo "without NetworkX: apt-get install python3-networkx" >&2; \
	fi; \
	$(BENCH_PLAN)/planning "$${peers[@]}" $(BENCH_PLAN_FLAGS)

# For a tenth of the inputs and further graphs: make bench-auto CORPUS_FLAGS='-v -every 10 FILE.rir...'
.PHONY: bench-auto
bench-auto: ## plan a corpus of graphs with every strategy, and check that auto is the quickest (a quarter of an hour)
	$(GO) run ./cmd/benchauto $(CORPUS_FLAGS)

# The host's cost of a replay. A missed goal is an error. -Wno-unused-parameter: the null driver ignores most parameters.
LIBCUDANULL := build/libcudanull.so
BENCH_HOST := build/bench-host

.PHONY: libcudanull
libcudanull: $(LIBCUDANULL) ## build the driver that does nothing, build/libcudanull.so (needs a C compiler)

$(LIBCUDANULL): cuda/libcudanull/null.c $(wildcard cuda/include/*.h)
	@mkdir -p $(dir $@)
	$(CC) -std=gnu11 -O2 -g -fPIC -Wall -Wextra -Wno-unused-parameter -Werror -Icuda/include -shared -o $@ $<

$(BENCH_HOST)/peer: cmd/hostcost/peer/peer.cpp build/lib/libcuda.a
	@mkdir -p $(dir $@)
	$(CXX) -std=c++17 -O2 -Wall -Wextra -Werror -Icuda/include -o $@ $^ -ldl -lpthread

.PHONY: bench-host
bench-host: libcudanull $(BENCH_HOST)/peer ## compare the host's cost of a replay with hand-written C++, on a driver that does nothing (needs g++)
	$(CUDA_ENV) $(GO) build -tags cuda -o $(BENCH_HOST)/host ./cmd/hostcost
	REPRISE_LIBCUDA=$(abspath $(LIBCUDANULL)) $(BENCH_HOST)/host -peer $(BENCH_HOST)/peer $(BENCH_HOST_FLAGS)

.PHONY: man
man: ## write the manual pages of all commands to build/man
	$(GO) run ./cmd/reprise man build/man

ADVICE_SOLVERS ?= cg bicgstab gmres chebyshev jacobi gauss-seidel power heat wave
ADVICE_FLAGS ?= --quick --sample 8

.PHONY: advice
advice: ## compare what reprise advise chooses with replays of each way on the simulated device
	$(GO) build -o build/advise ./cmd/reprise
	for p in vec bs img ml hits dl $(ADVICE_SOLVERS:%=%:poisson2d:64) pagerank:links:4096,8,1 hits:links:4096,8,1; do build/advise advise $$p --measure $(ADVICE_FLAGS) && echo || exit; done

LIBCUDASIM ?= build/libcudasim.so

.PHONY: libcudasim
libcudasim: ## build the simulated driver as a C library, build/libcudasim.so (needs a C compiler)
	@mkdir -p $(dir $(LIBCUDASIM))
	CGO_ENABLED=1 $(GO) build -tags cuda -buildmode=c-shared -ldflags '-extldflags=-Wl,-soname,libcuda.so.1 $(NOTE_SOURCES)' -o $(LIBCUDASIM) ./cuda/libcudasim
	ln -sf $(notdir $(LIBCUDASIM)) $(dir $(LIBCUDASIM))libcuda.so.1
	ln -sf $(notdir $(LIBCUDASIM)) $(dir $(LIBCUDASIM))libcuda.so

# Clients from Debian packages: docs/CLIENTS.md. Clients that are not installed are left out.
.PHONY: clients
clients: libcudasim ## run tests of Numba and PyCUDA on the simulated driver, where these are installed
	scripts/clients/run.sh numba pycuda

# What package mpi needs of MPI: docs/CLUSTER-MPI.md. bin/reprise loads it at run time. Debian: openmpi-bin, libopenmpi-dev.
MPICC ?= mpicc
MPIRUN ?= mpirun
MPI_PKGS := ./internal/transport/... ./cluster ./cmd/benchmpi
LIBMPI ?= bin/libreprise-mpi.so
MPI_SHIM := internal/transport/mpi/shim

.PHONY: mpi
mpi: $(LIBMPI) ## build bin/libreprise-mpi.so, through which bin/reprise uses MPI (needs mpicc)

$(LIBMPI): $(MPI_SHIM)/shim.c $(MPI_SHIM)/shim.h
	@command -v $(MPICC) >/dev/null || { echo "there is no MPI compiler $(MPICC): apt-get install openmpi-bin libopenmpi-dev, or set MPICC" >&2; exit 1; }
	@mkdir -p $(dir $@)
	$(MPICC) -std=gnu11 -O2 -g -fPIC -Wall -Wextra -shared -o $@ $<

# The tests start their ranks with mpirun themselves, and are skipped where it is not installed.
.PHONY: test-mpi
test-mpi: ## run the tests of ranks through MPI (needs mpicc and mpirun)
	CGO_ENABLED=1 $(GO) test -count=1 -timeout 30m $(MPI_TEST_FLAGS) -tags mpi ./internal/transport/mpi/... ./cluster

BENCH_MPI := build/bench-mpi

.PHONY: bench-mpi
bench-mpi: ## time exchanges of 2 and 4 ranks through MPI (needs mpicc and mpirun)
	@$(MAKE) --no-print-directory mpi LIBMPI=$(BENCH_MPI)/libreprise-mpi.so
	CGO_ENABLED=1 $(GO) build -tags mpi -o $(BENCH_MPI)/benchmpi ./cmd/benchmpi
	for ranks in 2 4; do \
		OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 $(MPIRUN) -np $$ranks --oversubscribe $(BENCH_MPI)/benchmpi $(BENCH_MPI_FLAGS); \
	done

# The hand-written workloads in C++: one program for each folder of baseline/, linked with build/lib/libcuda.a, so that
# it runs on any driver, and with static C++ libraries. -ffp-contract=off: the inputs must equal those of Go bit by bit.
BASELINE_OUT ?= build/baseline
BASELINE_FLAGS ?= -O2 -g
BASELINE_CXXFLAGS := -std=c++17 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -ffp-contract=off -MMD -MP \
	-Ibaseline/common -Icuda/include -Iinternal/lazycuda -Wa,-Iinternal/kernels -Wa,-Isolver/internal/kernels -Wa,-Ibaseline/solver \
	-Wa,-Iinternal/bench/scale/programs
BASELINES := $(filter-out common scale solver,$(notdir $(patsubst %/,%,$(wildcard baseline/*/))))
BASELINE_COMMON := $(patsubst baseline/%.cpp,$(BASELINE_OUT)/obj/%.o,$(wildcard baseline/common/*.cpp))
BASELINE_TESTS := $(patsubst baseline/%.cpp,$(BASELINE_OUT)/obj/%.o,$(wildcard baseline/common/tests/*.cpp baseline/scale/common/tests/*.cpp))

# The programs for several devices. Where mpicxx is installed, they are programs of MPI, and otherwise of one rank. MPICXX=
# leaves MPI out.
MPICXX ?= $(shell command -v mpicxx)
SCALE_BASELINES := $(patsubst baseline/%/,%,$(filter-out baseline/scale/common/,$(wildcard baseline/scale/*/)))
SCALE_RANKS := $(if $(MPICXX),mpi,alone)
SCALE_COMMON := $(patsubst baseline/%.cpp,$(BASELINE_OUT)/obj/%.o,$(filter-out %/ranks_mpi.cpp %/ranks_alone.cpp,$(wildcard baseline/scale/common/*.cpp))) \
	$(BASELINE_OUT)/obj/scale/common/ranks_$(SCALE_RANKS).o

.PHONY: baseline
baseline: $(addprefix $(BASELINE_OUT)/,$(BASELINES) solver/cg $(SCALE_BASELINES)) ## build the hand-written workloads and solver in C++, build/baseline (needs g++)

# Both sanitizers stop at the first finding. Sizes are odd, so that the last block and warp are not full. MPI is left out, because
# the sanitizers would report its own leaks.
.PHONY: baseline-asan
baseline-asan: libcudasim ## run the C++ workloads and the tests of their common code under the address and undefined-behaviour sanitizers
	$(MAKE) --no-print-directory -j "$$(nproc)" baseline build/baseline-asan/obj/tests BASELINE_OUT=build/baseline-asan MPICXX= \
		BASELINE_FLAGS='-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all'
	$(CC) -std=gnu11 -Wall -Wextra -Werror -Icuda/include -shared -fPIC scripts/testdata/failing-driver.c -o build/baseline-asan/obj/failing-driver.so \
		-Wl,-rpath,$(abspath $(dir $(LIBCUDASIM))) -Wl,--no-as-needed $(abspath $(LIBCUDASIM)) -ldl
	scripts/baseline-asan.sh build/baseline-asan $(abspath $(LIBCUDASIM)) build/baseline-asan/obj/failing-driver.so

.PHONY: baseline-ranks
baseline-ranks: libcudasim $(addprefix $(BASELINE_OUT)/,$(SCALE_BASELINES)) ## run the C++ programs for several devices under mpirun (needs mpicxx)
	scripts/baseline-ranks.sh $(BASELINE_OUT)/scale $(abspath $(LIBCUDASIM))

BASELINE_LINK = $(CXX) $(BASELINE_FLAGS) -static-libstdc++ -static-libgcc $^ -ldl -lpthread -o $@

define BASELINE_PROGRAM
$(BASELINE_OUT)/$(1): $(patsubst baseline/%.cpp,$(BASELINE_OUT)/obj/%.o,$(wildcard baseline/$(1)/*.cpp)) $(BASELINE_COMMON) build/lib/libcuda.a
	$$(BASELINE_LINK)
endef
$(foreach w,$(BASELINES),$(eval $(call BASELINE_PROGRAM,$(w))))

$(BASELINE_OUT)/obj/tests: $(BASELINE_TESTS) $(BASELINE_OUT)/obj/scale/common/flags.o $(BASELINE_COMMON) build/lib/libcuda.a
	$(BASELINE_LINK)

# The hand-written counterpart of package solver. Its flags differ from those of the workloads.
$(BASELINE_OUT)/solver/cg: $(patsubst baseline/%.cpp,$(BASELINE_OUT)/obj/%.o,$(wildcard baseline/solver/*.cpp)) $(BASELINE_COMMON) build/lib/libcuda.a
	@mkdir -p $(dir $@)
	$(BASELINE_LINK)

define SCALE_PROGRAM
$(BASELINE_OUT)/$(1): $(patsubst baseline/%.cpp,$(BASELINE_OUT)/obj/%.o,$(wildcard baseline/$(1)/*.cpp)) $(SCALE_COMMON) $(BASELINE_COMMON) build/lib/libcuda.a
	@mkdir -p $$(dir $$@)
	$$(BASELINE_LINK)
endef
$(foreach w,$(SCALE_BASELINES),$(eval $(call SCALE_PROGRAM,$(w))))
$(addprefix $(BASELINE_OUT)/,$(SCALE_BASELINES)): private CXX := $(or $(MPICXX),$(CXX))
$(BASELINE_OUT)/obj/scale/%.o: BASELINE_CXXFLAGS += -Ibaseline/scale/common
$(BASELINE_OUT)/obj/scale/common/ranks_mpi.o: CXX := $(MPICXX)
$(BASELINE_OUT)/obj/scale/common/ranks_mpi.o: BASELINE_CXXFLAGS += -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX

# The hash is in an object file of its own, which is rebuilt when the hash changes.
$(BASELINE_OUT)/obj/sources: FORCE
	@mkdir -p $(dir $@)
	@echo $(BASELINE_SOURCES) | cmp -s - $@ || echo $(BASELINE_SOURCES) >$@

$(BASELINE_OUT)/obj/common/sources.o: $(BASELINE_OUT)/obj/sources
$(BASELINE_OUT)/obj/common/sources.o: BASELINE_CXXFLAGS += -DREPRISE_SOURCES='"$(BASELINE_SOURCES)"'

.PHONY: FORCE
FORCE:

$(BASELINE_OUT)/obj/%.o: baseline/%.cpp $(wildcard internal/kernels/*.ptx internal/bench/scale/programs/*.ptx solver/internal/kernels/*.ptx baseline/solver/*.ptx) Makefile
	@mkdir -p $(dir $@)
	$(CXX) $(BASELINE_CXXFLAGS) $(BASELINE_FLAGS) -c $< -o $@

-include $(wildcard $(BASELINE_OUT)/obj/*/*.d $(BASELINE_OUT)/obj/*/*/*.d $(BASELINE_OUT)/obj/*/*/*/*.d)

# Times at tiny sizes have no meaning, but every workload runs on both sides and its result is checked.
BENCH_SMOKE := build/bench-smoke

COMPARE_SCALE ?= "1x4 2x2 4x1" 512 4096

.PHONY: compare-scale
compare-scale: build libcudasim $(addprefix $(BASELINE_OUT)/,$(SCALE_BASELINES)) ## compare plans for four devices with C++ by hand (needs g++; mpicxx for several ranks)
	scripts/scale-compare.sh bin/reprise $(BASELINE_OUT)/scale $(abspath $(LIBCUDASIM)) $(COMPARE_SCALE)

.PHONY: bench-smoke
bench-smoke: build baseline libcudasim ## compare every workload and a solver with their C++ programs, at tiny sizes (needs g++)
	@mkdir -p $(BENCH_SMOKE)
	bin/reprise compare --size tiny --memory all --iterations 5 --max-ratio 1 --min-throughput 1.3 --json $(BENCH_SMOKE)/compare.json --plot $(BENCH_SMOKE)
	bin/reprise compare solver --size 16 --check-every 1,16

.PHONY: compare-solver
compare-solver: build baseline libcudasim ## compare conjugate gradients, traced in Go and hand-written in C++ (needs g++)
	bin/reprise compare solver

# The bundle for a machine with a GPU and without Go: docs/GPU-CHECK.md.
GPU_BUNDLE ?= build/gpu-bundle

.PHONY: gpu-bundle
gpu-bundle: build baseline ## build the checks for a machine with a GPU, build/gpu-bundle.tar.gz (needs g++)
	GO=$(GO) $(CUDA_ENV) scripts/gpu-bundle.sh $(GPU_BUNDLE) $(BASELINES:%=$(BASELINE_OUT)/%)

GPU_CHECK_SIM := build/gpu-check-sim
GPU_CHECK_STEPS ?= # all
COMPARE_FLAGS ?= --size tiny --memory all
VALIDATE_FLAGS ?= --only micro/h200/small_graph/4096

.PHONY: gpu-check-sim
gpu-check-sim: gpu-bundle libcudasim ## run the bundle's checks on the simulated driver (needs g++)
	@mkdir -p $(GPU_CHECK_SIM)
	@ln -sf $(abspath $(LIBCUDASIM)) $(GPU_CHECK_SIM)/libcuda.so.1
	REPRISE_LIBCUDA=sim LIBCUDA=$(abspath $(LIBCUDASIM)) LD_LIBRARY_PATH=$(abspath $(GPU_CHECK_SIM)) COMPARE_FLAGS="$(COMPARE_FLAGS)" VALIDATE_FLAGS="$(VALIDATE_FLAGS)" \
		$(GPU_BUNDLE)/gpu-check.sh -o $(GPU_CHECK_SIM) $(GPU_CHECK_STEPS)

.PHONY: clean
clean: ## remove what the other targets built
	rm -rf bin build
