# All that is needed to work here: python3 (3.10 or newer), make, bash and git.
#
#   make demo       a whole run on this machine: start, test, stop (SCENARIO=failing-test for another)
#   make sandbox    the same world, kept running for act by hand
#   make test       the tests (ARGS="-k name" for some)
#   make test-faults   the actions killed and disturbed at every call they make (20 minutes)
#   make lint       every check; prints nothing if there is nothing to say
#   make bench      what it costs: start-up times and API calls
#   make docs       put inputs, outputs and examples into the READMEs again
#   make requirements   lock shared/requirements again (UPGRADE=--upgrade for newer versions)
#   make clean      remove .cache, where everything the above makes is kept

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help demo sandbox test test-faults lint bench docs requirements clean

PYTHON ?= python3
LAUNCH := $(PYTHON) shared/launch --set dev
CACHE := $(CURDIR)/.cache
# Many tests wait for processes of the sandbox: two at a time for each processor.
WORKERS := $(shell echo $$((2 * $$(nproc))))

export RUNNER_FLEET_CACHE := $(CACHE)/environments
export UV_CACHE_DIR := $(CACHE)/uv
# Both are this checkout's own: no need to have every file twice.
export UV_LINK_MODE := hardlink
export PIP_CACHE_DIR := $(CACHE)/pip
export PYTHONPYCACHEPREFIX := $(CACHE)/pycache
export HYPOTHESIS_STORAGE_DIRECTORY := $(CACHE)/hypothesis
# pytest keeps the directories of the last three runs; here instead of in /tmp.
export PYTEST_DEBUG_TEMPROOT := $(CACHE)/tmp

help:
	@sed -n 's/^#   //p' Makefile

# make hands SCENARIO and VERBOSE on in the environment.
demo:
	@exec $(LAUNCH) --path examples -m sandbox.demo

sandbox:
	@exec $(LAUNCH) --path examples -m sandbox

test:
	@mkdir -p .cache/tmp
	@exec $(LAUNCH) -m pytest -q -n $(WORKERS) --dist worksteal $(ARGS)

# Without ARGS everything: ten thousand input sets, then every point of the campaign.
test-faults:
	@mkdir -p .cache/tmp
	@[[ -n "$(ARGS)" ]] || RUNNER_FLEET_EXAMPLES=10000 $(LAUNCH) -m pytest -q -s -n 2 tests/properties
	@exec $(LAUNCH) --path examples --path . -m tests.faults $(ARGS)

lint:
	@exec .ci/lint $(LAUNCH)

bench:
	@for bench in calls startup; do $(LAUNCH) --path examples --path . "tests/bench/$$bench.py"; done

docs:
	@exec $(LAUNCH) tools/docs.py

# The sets that actions run on come first and bind the development set to the same versions.
UV_COMPILE := $(PYTHON) ../launch --set uv --bin uv pip compile --quiet --universal \
	--python-version 3.10 --python "$$(command -v $(PYTHON))" --only-binary :all: \
	--generate-hashes --no-header --no-annotate --no-emit-index-url $(UPGRADE)
requirements:
	@cd shared/requirements; \
	$(UV_COMPILE) uv.in -o uv.txt; \
	$(UV_COMPILE) ec2.in -o ec2.txt; \
	$(UV_COMPILE) -c ec2.txt github.in -o github.txt; \
	$(UV_COMPILE) -c ec2.txt bench.in -o bench.txt; \
	$(UV_COMPILE) -c ec2.txt -c github.txt -c uv.txt dev.in -o dev.txt

clean:
	@rm -rf .cache
