# The one door to everything that is done here; `make help` lists it.
# Each target sets up what it needs. Nothing has to be there first but make and Python 3.11.
#
#   make test ARGS="tests/core/cron -x"      hand arguments to the tool behind a target
#   make clean setup PYTHON=python3.13       choose the interpreter

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup run preview test check lint fmt types contracts coverage optimized spec picture mutants kube test-system test-operator bench bench-time bench-ledger bench-theory bench-simulation bench-krond bench-operator bench-service bench-workflow prove pins clean

BIN := .venv/bin
READY := .venv/ready
PYTHONS := $(or $(PYTHON),python3.11 python3 python python3.12 python3.13)
WHOLLY := src/gnomon/core/*,src/gnomon/theory/*,src/gnomon/trace.py
PYTEST := -m pytest -n auto --dist worksteal

export PIP_DISABLE_PIP_VERSION_CHECK := 1

# A copied tree must not use the environment of the original, which would test the wrong code.
ifneq ($(shell cat $(READY) 2>/dev/null),$(CURDIR))
.PHONY: $(READY)
endif

help: ## Say what can be done here
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(READY) ## Make the environment in .venv; quick when nothing changed

$(READY): pyproject.toml constraints.txt
	@python=$$(for name in $(PYTHONS); do \
	  "$$name" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	    && echo "$$name" && break; \
	done); \
	test -n "$$python" || { \
	  echo "Gnomon needs Python 3.11 or later with its venv module; looked for: $(PYTHONS)." >&2; \
	  echo "Install one, or name one: make setup PYTHON=/path/to/python" >&2; \
	  exit 1; \
	}; \
	test "$$(cat $@ 2>/dev/null)" = "$(CURDIR)" || rm -rf .venv; \
	test -x $(BIN)/python || "$$python" -m venv .venv || exit 1; \
	echo "setting up .venv with $$($(BIN)/python -V)"
	@$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev,fast]'
	@echo "$(CURDIR)" > $@

run: $(READY) ## Run the service on this machine, with sample DAGs: gnomon up
	@$(BIN)/gnomon up $(ARGS)

preview: $(READY) ## Show the next occurrences of the sample schedules
	@$(BIN)/gnomon preview examples/schedules.toml $(ARGS)

test: $(READY) ## Run the tests
	$(BIN)/python $(PYTEST) $(ARGS)

check: lint types contracts coverage optimized ## Run every check: style, types, contracts, tests, coverage

lint: $(READY) ## Check style and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

fmt: $(READY) ## Put the code into its format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(READY) ## Check the types, strictly
	$(BIN)/mypy

contracts: $(READY) ## Check that imports point down and the core is pure
	$(BIN)/lint-imports --no-logo

# To be watched makes a test two to three times as slow; the thousandth world shows no new line.
coverage: $(READY) ## Run the tests; every branch of the core and the theory must be taken
	$(BIN)/coverage erase
	$(BIN)/coverage run $(PYTEST) -m 'not bulk'
	find . -maxdepth 1 -name '.coverage.*' -empty -delete # of processes that were killed
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report --omit '$(WHOLLY)'
	$(BIN)/coverage report --include '$(WHOLLY)' --fail-under 100
	$(BIN)/python $(PYTEST) -m bulk

picture: $(READY) ## Draw the house and the four lives in docs from the sources
	$(BIN)/python -m tests.tidy.picture
	$(BIN)/python -m tests.tidy.states

# What guards a write is an `if` that raises; an `assert` only says what is so.
optimized: $(READY) ## Run the contract suites as `python -O` does, without our asserts
	$(BIN)/python -O $(PYTEST) -W 'ignore:assertions not in test modules' tests/contract

spec: $(READY) ## Print which tests hold which clause of docs/spec
	@$(BIN)/python -m tests.tidy.matrix $(ARGS)

mutants: $(READY) ## Change the sources in small places and see whether tests notice; ARGS="--help" says how
	@$(BIN)/python -m tests.mutants $(ARGS)

test-system: $(READY) ## Run the tests that need root and system packages, which they install
	$(BIN)/python -m pytest -s $(or $(ARGS),tests/system)

kube: $(READY) ## Build the Kubernetes of the tests, once for each user; needs Go
	@$(BIN)/python -m tests.kube build

test-operator: kube ## Run the tests that need a real Kubernetes, which they start
	$(BIN)/python -m pytest --cluster $(or $(ARGS),tests/cluster)

# Areas and paths are different for each, so with arguments but --quick it is the time core only.
bench: bench-time $(if $(filter-out --quick,$(ARGS)),,bench-ledger bench-theory bench-service) ## Measure speed beside others

bench-time: $(READY) ## Measure the time core only; ARGS="--help" says how
	$(BIN)/python -m benchmarks.time_core $(ARGS)

bench-ledger: $(READY) ## Measure the ledger only; ARGS="--help" says how
	$(BIN)/python -m benchmarks.ledger $(ARGS)

bench-theory: $(READY) ## Measure the monitor of the theory only; ARGS="--help" says how
	$(BIN)/python -m benchmarks.theory $(ARGS)

bench-service: $(READY) ## Measure the service under load only; ARGS="--help" says how
	$(BIN)/python -m benchmarks.service $(ARGS)

bench-workflow: $(READY) ## Measure the workflow host only; ARGS="--quick" is shorter
	$(BIN)/python -m benchmarks.workflow $(ARGS)

bench-simulation: $(READY) ## Measure how quickly simulated hours pass; ARGS="--help" says how
	$(BIN)/python -m benchmarks.simulation $(ARGS)

bench-krond: $(READY) ## Measure krond with 10,000 jobs; ARGS="--help" says how
	$(BIN)/python -m benchmarks.krond $(ARGS)

bench-operator: kube ## Measure KronJobs beside CronJobs on a real Kubernetes; ARGS="--help" says how
	$(BIN)/python -m benchmarks.operator $(ARGS)

prove: $(READY) ## Run the full proofs, resumable; ARGS="--help" says how
	$(BIN)/python -m tests.prove $(ARGS)

pins: $(READY) ## Write the newest versions of all dependencies to constraints.txt
	rm -rf build/pins
	$(BIN)/python -m venv build/pins
	build/pins/bin/python -m pip install --quiet --editable '.[dev,fast]'
	{ sed -n '/^#/p' constraints.txt; build/pins/bin/python -m pip freeze --exclude-editable; } \
	  > build/constraints.txt
	mv build/constraints.txt constraints.txt

clean: ## Remove what make can make again; the results of bench and prove stay
	rm -rf .venv build dist src/*.egg-info .coverage .coverage.*
	rm -rf .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	find src tests benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} +
