# Every target is a script in scripts/, or one line; `make help` lists them.
.DEFAULT_GOAL := help
.PHONY: help setup lock build test test-full demo bench format lint sanitize faults turn-faults log-faults streams fuzz docs wheel clean

help: ## this list
	@sed -n 's/^\([a-z%-]*\):.*## \(.*\)/  make \1~\2/p' $(MAKEFILE_LIST) | awk -F'~' '{printf "%-18s %s\n", $$1, $$2}'

setup: ## install what is missing: Debian packages (root or sudo), Python packages into .venv
	@scripts/setup

lock: ## rewrite packaging/python/requirements.txt from requirements.in with today's versions
	@scripts/lock

build: setup ## build libraries, programs, Python modules (build/release)
	@scripts/build

test: ## set-up, build, all tests but those that need large extras or take long: make test [ROOM=offload]
	@scripts/test $(ROOM)

test-full: ## the same with the tests that need large extras or take long
	@scripts/test --full $(ROOM)

demo: build ## set-up, build, and the main job: a storm, three ways of output, one report
	@scripts/demo

bench: build ## benchmarks, one figure a line: make bench [ROOM=offload]
	@scripts/bench $(ROOM)

study-%: build ## benchmarks that take longer than ten minutes; without a known name: the list of them
	@scripts/study $*

format: ## clang-format, ruff and prettier, in place
	@scripts/lint --fix

lint: setup ## clang-format, clang-tidy on changed files, ruff, mypy, TypeScript
	@scripts/lint

sanitize: setup ## all C, C++ and session tests under address/undefined behaviour and thread sanitizers (docs/sanitizers.md)
	@scripts/sanitize

faults: build ## sessions under faults, server and client killed or held at each step (docs/faults.md): make faults [MINUTES=10] [KIND=kill] [SEED=1]
	@.venv/bin/python tests/python/offload/session/fault_campaign.py $(if $(MINUTES),--minutes $(MINUTES)) $(if $(KIND),--kind $(KIND)) $(if $(SEED),--seed $(SEED))

turn-faults: build ## two programs that take turns, their coordinator killed, stopped or replaced before each message (docs/faults.md): make turn-faults [MINUTES=10] [SEED=1]
	@.venv/bin/python tests/python/coordinate/exchange_campaign.py $(if $(MINUTES),--minutes $(MINUTES)) $(if $(SEED),--seed $(SEED))

log-faults: build ## random operations on log containers by processes at a time, writers killed, bits changed (docs/faults.md): make log-faults [OPERATIONS=1000000] [KILLS=10000] [MINUTES=] [SEED=1]
	@.venv/bin/python tests/python/logfs/log_fault_campaign.py $(if $(OPERATIONS),--operations $(OPERATIONS)) $(if $(KILLS),--kills $(KILLS)) $(if $(MINUTES),--minutes $(MINUTES)) $(if $(SEED),--seed $(SEED))

streams: build ## a million random operations on streams, narrow and wide, on a backend's files, on log containers and on plain files: make streams [OPERATIONS=1000000] [SEED=1]
	@HALCYON_STREAM_OPERATIONS=$(or $(OPERATIONS),1000000) HALCYON_STREAM_SEED=$(or $(SEED),1) .venv/bin/python -m pytest -k random_operations tests/python/calls/test_streams_on_a_backend.py tests/python/logfs/test_streams.py

fuzz: setup ## damaged traces, long streams for the grammar, under sanitizers: make fuzz [OF=traces|grammar] [MINUTES=10] [SEED=1]
	@scripts/fuzz "$(OF)" $(or $(MINUTES),10) $(SEED)

docs: build ## the documentation site (build/site)
	@scripts/docs

wheel: setup ## the Python wheel (dist/), tried in a fresh environment
	@scripts/wheel

clean: ## remove what builds made; .venv stays
	rm -rf build dist python/halcyon/*.so python/halcyon/observe/viewer/viewer.html
