# Go is all that the targets need, except for ptx. Run `make` for the list.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c

GO ?= $(shell command -v go || echo /usr/local/go/bin/go)
FUZZTIME ?= 30s
# What race runs. The benchmarks are not in it: a simulated kernel is some ten times slower
# under the detector, and they start no goroutine that these packages do not. Of the simulator's
# tests it runs those where blocks run side by side and share what they note; all of them take ten minutes, and
# those that count allocations cannot pass, since sync.Pool drops things at random under the detector.
RACE_PKGS ?= ./ir/... ./ptx/... ./device/... ./tracer/... ./optimizer/... ./graphexec/... \
	./bench/reference/... ./internal/...
RACE_SIM ?= Worker|Order|Race|Record|Update|Blocks|Print|Scan|Histogram|Finding|Memo
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

.PHONY: help
help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## build bin/reprise, without cgo
	CGO_ENABLED=0 $(GO) build -buildvcs=auto -o bin/reprise ./cmd/reprise

.PHONY: test
test: ## run every test
	$(GO) test ./...

.PHONY: race
race: ## run the quick tests under the race detector (needs a C compiler)
	CGO_ENABLED=1 $(GO) test -race -short $(RACE_PKGS)
	CGO_ENABLED=1 $(GO) test -race -short -run '$(RACE_SIM)' ./sim/...

.PHONY: lint
lint: ## gofmt, go vet, staticcheck
	@unformatted=$$($$($(GO) env GOROOT)/bin/gofmt -l .); \
	if [ -n "$$unformatted" ]; then echo "not gofmt'ed, run gofmt -w on:" $$unformatted >&2; exit 1; fi
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...

# An input that adds coverage is minimized for a minute by default, all of the run.
.PHONY: fuzz
fuzz: ## run each fuzz target for FUZZTIME (30s)
	@for pkg in ./internal/des ./ir ./ptx ./sim/interp; do \
		targets=$$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); \
		for target in $$targets; do \
			echo "fuzz $$pkg $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1s $$pkg; \
		done; \
	done

.PHONY: ptx
ptx: ## compile the .cu files to PTX (needs nvcc); no diff when nothing changed
	cuda/compile.sh cuda/kernels device/devicetest examples/heat sim/testdata/kernels

.PHONY: bench
bench: ## run the benchmarks on the default device
	$(GO) run ./cmd/reprise bench

.PHONY: bench-sim
bench-sim: ## time the simulator's interpreter: lane-instructions per second and core
	$(GO) test ./sim -run '^$$' -bench '^BenchmarkSim$$' -benchtime 1s

LIBCUDASIM ?= build/libcudasim.so

.PHONY: libcudasim
libcudasim: ## build the simulated driver as a C library, build/libcudasim.so (needs a C compiler)
	@mkdir -p $(dir $(LIBCUDASIM))
	CGO_ENABLED=1 $(GO) build -tags cuda -buildmode=c-shared -ldflags '-extldflags=-Wl,-soname,libcuda.so.1' -o $(LIBCUDASIM) ./cuda/libcudasim

.PHONY: clean
clean: ## remove what the other targets built
	rm -rf bin build
