# Two commands: `make run` and `make test`. Both set up what they need.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV ?= .venv
PY = $(VENV)/bin/python
PORT ?= 8000

.PHONY: run test test-touched nightly fuzz lint setup setup-tests constraints sbom viewer benchmarks card clean

run: setup
	$(PY) manage.py run --demo --port $(PORT)

# Three processes on two cores: some tests wait, for a browser, a lease or a program that starts.
test: setup-tests
	$(PY) -m pytest -n 3 --dist loadfile $(ARGS) || $(PY) -m tests.alone

# The tests of what this branch touched since it left main.
test-touched: setup-tests
	$(PY) -m pytest -n 3 --dist loadfile $$($(PY) -m tests.touched) || $(PY) -m tests.alone

# What takes too long for every change; the table goes to deploy/nightly.md.
nightly: setup-tests
	$(PY) -m tests.nightly --record $(ARGS)

lint: setup-tests
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(PY) -m tests.templates --check
	$(VENV)/bin/mypy

# Damaged files of every format that is read, 20,000 of each; what is neither taken nor refused with a sentence is kept.
fuzz: setup-tests
	$(PY) -W ignore -m tests.fuzz $(ARGS)

setup: $(VENV)/.installed
setup-tests: $(VENV)/.installed-tests

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: requirements.txt deploy/constraints.txt | $(VENV)/bin/python
	$(PY) -m pip install --quiet --disable-pip-version-check -r requirements.txt
	@touch $@

$(VENV)/.installed-tests: tests/requirements.txt tests/requirements-peers.txt $(VENV)/.installed
	$(PY) -m pip install --quiet --disable-pip-version-check -r requirements.txt -r tests/requirements.txt
	$(PY) -m pip install --quiet --disable-pip-version-check --no-deps -r tests/requirements-peers.txt
	@touch $@

# After a change of requirements: the versions of all that they require in turn.
constraints: setup-tests
	$(PY) -m tests.support.pinned

# What the service is made of, with versions and licences (CycloneDX): var/sbom.json its packages, var/sbom-viewer.json the viewer's.
sbom: setup-tests
	$(PYTHON) -m venv var/sbom-venv
	var/sbom-venv/bin/pip install --quiet --disable-pip-version-check -r requirements.txt
	$(VENV)/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible -o var/sbom.json var/sbom-venv/bin/python
	rm -rf var/sbom-venv
	cd leaderboard/static/viewer && npm sbom --package-lock-only --sbom-format cyclonedx > $(CURDIR)/var/sbom-viewer.json

# The 3D viewer is bundled once and kept in the repository; this makes the bundle again.
viewer:
	cd leaderboard/static/viewer && npm ci && npm run build && rm -rf node_modules

benchmarks: setup-tests
	for bench in tests/benchmarks/bench_*.py; do $(PY) -m tests.benchmarks.$$(basename $$bench .py) || exit 1; done

# All that computes on a graphics card, on the one that is here, by a Python that has torch with CUDA; installs nothing.
card:
	$(PYTHON) -m tests.card $(ARGS)

clean:
	rm -rf $(VENV) var
