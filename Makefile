# Mitigauge. `make help` lists what there is.
SHELL := /bin/bash
.DEFAULT_GOAL := help
# Cases of each operation of the API, for `make fuzz`.
EXAMPLES ?= 1000
export PATH := $(CURDIR)/.venv/bin:$(CURDIR)/.mitigauge/tools/bin:$(PATH)

.PHONY: help setup demo quick test test-all test-deep test-measured durations test-lab test-metal test-crash test-mutants test-fresh test-deploy test-load release audit check bench bench-stats bench-bisect bench-profiles bench-lab bench-store bench-web bench-cost fuzz requirements pictures clean bench-truth bench-exact bench-exact-page bench-reach

help: ## this list, and which tests are older than the code they cover
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@python3 scripts/tiers.py stale

setup: ## install everything that is missing; costs seconds when nothing is
	@scripts/setup

demo: setup ## boot emulated hosts, measure, serve (ARGS=--recorded: show a run that was recorded; --once: end after the report)
	@.venv/bin/mitigauge demo $(ARGS)

quick: ## formatting and types of what changed, and the nearest tests; a minute (ARGS=--help)
	@[ ! -x .venv/bin/mitigauge ] || scripts/generate
	@python scripts/quick.py $(if $(BUDGET),--budget $(BUDGET)) $(ARGS)

test: setup ## tests of every part, with one real run on an emulated host (SKIP_LAB=1: without it)
	@scripts/test

test-all: setup ## every tier of tests, hours, a line each (ARGS=lab: some; ARGS=-h: which)
	@python scripts/tiers.py run $(ARGS)

durations: ## keep what test files took in the last `make test`, to say later which grew
	@python scripts/tiers.py record

test-deep: setup ## long forms of tests: faults at every commit, generated requests (ARGS: for pytest)
	@python -m pytest -m deep -n $$(nproc) --dist loadfile $(ARGS)

test-measured: setup ## what measures time or memory: alone, one test after the other (ARGS: for pytest)
	@python -m pytest -m measured tests/api tests/crash tests/db tests/unit tests/fuzz $(ARGS)

test-lab: setup ## all tests that boot emulated hosts (ARGS: for pytest)
	@python -m pytest -m lab -s -v tests/lab $(ARGS)

test-metal: setup ## README's "On hosts of yours" on emulated servers (LVM over RAID 1; btrfs without GRUB), and boots that fail there; an hour (ARGS: for pytest)
	@python -m pytest -m lab -s -v tests/lab/test_metal.py tests/lab/test_sdboot.py $(ARGS)

test-crash: setup ## workers killed, paused and cut off at every step; an hour (ARGS: for the campaign alone)
	@scripts/test-crash $(ARGS)

test-mutants: setup ## do tests notice faults in leases, fences, proofs and verdicts? (ARGS=--list: which)
	@python -m tests.crash.mutants $(ARGS)

test-fresh: ## set-up and quick tests of the committed project in a new Debian root (ARGS: what to run there)
	@scripts/test-fresh $(ARGS)

test-deploy: setup ## images built, Compose to a measured answer, the package installed (ARGS: for pytest)
	@scripts/test-deploy $(ARGS)

test-load: setup ## a fleet of simulated hosts at work for half an hour: overlaps, memory (ARGS=--help)
	@python -m tests.load.fleet $(ARGS)
	@python -m tests.load.waiting

release: setup ## package, images, bills of materials, changelog and checksums in dist/VERSION (DRY=1: for a try)
	@scripts/release

audit: setup ## known flaws of what we depend on, Python's and npm's
	@scripts/audit

check: setup ## formatting, types, floors, playbooks, web: whatever needs no running host
	@scripts/check

bench: setup ## how long the house takes: set-up, database, command, API, dashboard's size
	@python scripts/bench.py $(ARGS)

bench-stats: setup ## error rates and blocks to a verdict beside other rules, simulated (ARGS=--help)
	@python -m bench.stats $(ARGS)

bench-bisect: setup ## bisections beside other ways to bisect, simulated: right answers, boots (ARGS=--quick)
	@-.mitigauge/tools/python/bin/uv pip install --quiet --target .mitigauge/peers --no-deps git-bayesect==1.2
	@python -m bench.bisect $(ARGS)

bench-profiles: setup ## folding and comparing profiles beside FlameGraph and inferno (ARGS=--help)
	@python -m bench.profiles $(ARGS)

bench-store: setup ## pages, judging and bytes with ten million values in the database (ARGS=--help)
	@python -m bench.store $(ARGS)

bench-exact: setup ## what counting every instruction costs an emulated host's boot (ARGS=--help)
	@python -m bench.exact $(ARGS)

bench-exact-page: setup ## an exact difference that is stored beside one computed of its ledgers (ARGS=--help)
	@python -m bench.exact.page $(ARGS)

bench-reach: setup ## are the cases that run a patch measured, and no others? (ARGS=--help)
	@python -m bench.exact.reach $(ARGS)

bench-truth: setup ## change-point detectors on series whose changes are known, ten minutes (ARGS=--quick: one)
	@OPENBLAS_NUM_THREADS=1 python -m bench.truth $(ARGS)

bench-lab: setup ## what counted time makes of noise: real experiments on emulated hosts, half an hour (ARGS=--help)
	@python -m bench.lab $(ARGS)

bench-cost: setup ## what `mitigauge cost` predicts beside measured switch-offs on this machine, five minutes (ARGS=--help)
	@python -m bench.cost $(ARGS)

bench-web: setup ## the matrix page with 3,000 rows in Chromium, beside one that renders every row (ARGS=--json)
	@npm --prefix web run --silent bench:matrix -- $(ARGS)

fuzz: setup ## 100,000 malformed specs, archives, captures and results, then the API (ARGS=--help)
	@python -m tests.fuzz $(ARGS)
	@python -m tests.fuzz.api --examples $(EXAMPLES)

pictures: setup ## draw docs/images from today's pages, as far as the recorded experiment shows them
	@scripts/pictures

requirements: ## compile requirements/*.in into pinned, hashed *.txt (ARGS=--upgrade: newer versions)
	@scripts/requirements $(ARGS)

clean: ## remove what set-up made; measurements stay
	@scripts/clean
