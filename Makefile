# The commands of this project, one line each. `make help` lists them.
# ARGS are passed on: make test ARGS="tests/metrics -n 0", make bench-peers ARGS="--environments DIR".
bin := .venv/bin
python := $(bin)/python
PYTHON ?= python3
.DEFAULT_GOAL := help
.PHONY: $(shell sed -nE 's/^([a-z-]+): ;.*/\1/p' $(MAKEFILE_LIST))

help: ; @sed -nE 's/^([a-z-]+): ;.* ## (.*)/\1|\2/p; s/^## (.*)/\n\1:/p' $(MAKEFILE_LIST) | awk -F'|' 'NF > 1 {printf "%-25s %s\n", $$1, $$2; next} 1' ## this list

## Every day
env: ; $(PYTHON) -m venv .venv && $(bin)/pip install -q -e '.[dev]' ## makes .venv, with everything that any test needs, in the newest versions
env-locked: ; $(PYTHON) -m venv .venv && $(bin)/pip install -q -c .ci/lock.txt -e '.[dev]' ## makes .venv, with the versions in .ci/lock.txt
test: ; $(bin)/pytest $(ARGS) ## quick tests, and doctests of src, docs and README.md; warnings are errors
test-slow: ; $(bin)/pytest -m slow $(ARGS) ## what `make test` leaves out: Chromium, long simulations, most cases of long tables
check: ; $(bin)/ruff check . && $(bin)/ruff format --check . && $(bin)/mypy && $(bin)/lint-imports ## style, types and the order of imports
format: ; $(bin)/ruff check --fix . && $(bin)/ruff format . ## fixes what ruff can fix
hooks: ; $(bin)/pip install -q pre-commit && $(bin)/pre-commit install ## runs the checks before each commit
docs: ; $(bin)/sphinx-build -W -b html docs docs/_build/html ## the documentation; open docs/_build/html/index.html
page: ; $(python) tests/pages.py $(ARGS) ## writes what the blocks of a page print into it: ARGS=docs/tutorial.md
schema: ; PYTHONPATH=tests $(python) tests/auditing/test_saved.py ## writes the schema of saved audits into the documentation
coverage: ; $(bin)/coverage erase && $(bin)/coverage run -m pytest -m "" $(ARGS) && $(bin)/coverage combine -q && $(bin)/coverage json -q -o .coverage.json && $(python) benchmarks/coverage_by_package.py .coverage.json ## lines and branches that the tests run, by package

## Before a change lands
ci: ; .ci/run ## the test command of README.md, `make check` and `make docs`, as the hosted CI runs them
nightly: ; .ci/nightly $(ARGS) ## slow tests, Spark, lowest versions and wheels, as the hosted CI runs them each night; ARGS="slow floors" runs parts
floors: ; .ci/floors $(ARGS) ## what touches other packages, with the lowest versions that pyproject.toml allows
outside: ; .ci/outside $(ARGS) ## all tests against the wheel, elsewhere, with every supported Python; slow
lock: ; python3.11 -m venv --clear .venv-lock && .venv-lock/bin/pip install -q -e '.[dev]' && .venv-lock/bin/pip freeze --exclude-editable > .ci/lock.txt && rm -r .venv-lock ## writes .ci/lock.txt with the newest versions, on the oldest Python
browser: ; apt-get install chromium && $(bin)/pytest -m "" tests/reports tests/web ## tests that are skipped without Chromium
spark: ; $(bin)/pip install -q -e '.[spark]' && $(bin)/pytest -m "" tests/data -k pyspark ## tests that are skipped without Spark; needs Java
modin: ; $(bin)/pip install -q modin && $(bin)/pytest -m "" tests/data -k modin ## tests that are skipped without Modin; needs pandas 2

## The paper, and pictures that scripts write
reproduce: ; $(python) -m reproduction $(ARGS) ## the paper's figures, tables and claims, in results/; a minute
bench-coverage-picture: ; $(python) benchmarks/coverage_picture.py ## the picture of README, from docs/reference/evidence.md
bench-packages-picture: ; $(python) benchmarks/packages_picture.py ## the picture of the architecture, from what modules import
bench-report: ; $(python) benchmarks/report.py $(ARGS) ## the report in Chromium; ARGS="--pictures docs/images" takes screenshots

## Measurements
bench-calibration: ; $(python) benchmarks/calibration.py ## sizes of tests and coverage of intervals; five minutes
bench-variation: ; $(python) benchmarks/variation.py ## whether rates vary between groups: false alarms, power and coverage; two minutes
bench-whole-audits: ; $(python) benchmarks/whole_audits.py $(ARGS) ## error rates of whole audits; slow
bench-peers: ; $(python) benchmarks/peers $(ARGS) ## comparison with other libraries: ARGS="--environments DIR"; some GB, a quarter of an hour
bench-conformance: ; $(python) benchmarks/peers/own_tests.py $(ARGS) ## peers' own tests, repeated here: ARGS="--tests fairlearn=DIR --tests PyCM=DIR"; a few minutes
bench-scale: ; $(python) benchmarks/scale.py $(ARGS) ## times by number of groups and rows; ten minutes
bench-compare: ; @$(python) benchmarks/compare.py $(ARGS) ## times of this version, or ARGS="OLD.json NEW.json": changes of times
bench-audit: ; $(python) benchmarks/audit.py $(ARGS) ## a million rows, 100 million rows, and fairlearn
bench-budgets: ; $(python) benchmarks/budgets.py $(ARGS) ## time of every public function at sizes from 0 to 10^15
bench-dependencies: ; $(python) benchmarks/dependencies.py $(ARGS) ## dependencies, licences, and advisories from a copy of OSV's database
bench-experiment: ; $(python) benchmarks/experiment.py ## the paper's whole experiment, exact
bench-fuzz: ; $(python) benchmarks/fuzz.py $(ARGS) ## a long campaign of the fuzz tests: ARGS="--minutes 20"
bench-frozen: ; $(python) benchmarks/frozen.py $(ARGS) ## writes the numbers that `make bench-frozen-compare` compares with; two minutes
bench-frozen-compare: ; @$(python) benchmarks/frozen.py --compare $(ARGS) ## which numbers differ from the frozen ones, by kind: ARGS="--only results --match mcc"; two minutes
bench-import-time: ; $(python) benchmarks/import_time.py ## time of import evenhand, compared with numpy
bench-match: ; $(python) benchmarks/match.py ## exact tests against a million draws
bench-goals: ; $(python) benchmarks/goal_errors.py $(ARGS) ## how often a group on its goal is said to meet it; two minutes
bench-memory: ; $(python) benchmarks/memory.py $(ARGS) ## memory that an audit of a large CSV file takes
bench-multiclass: ; $(python) benchmarks/multiclass.py ## a million rows of 100 classes
bench-mutations: ; $(python) benchmarks/mutations.py $(ARGS) ## which mutations the tests detect; slow
bench-planning: ; $(python) benchmarks/planning.py $(ARGS) ## exact power against simulation, and the table in docs/how-to/planning.md
bench-protection: ; $(python) benchmarks/protection.py ## what rounding costs, the table in docs/how-to/publish.md; a few minutes
bench-scores: ; $(python) benchmarks/scores.py ## coverage and size of what docs/how-to/scores.md describes; a few minutes
bench-strengths: ; $(python) benchmarks/strengths.py ## the tables in docs/explanation/smoothing.md and decision 10; a few minutes
bench-structured: ; $(python) -W ignore benchmarks/structured.py ## smoothing against shrinkage that uses the columns, the tables in docs/explanation/smoothing.md; five minutes
bench-clusters: ; $(python) benchmarks/clusters.py $(ARGS) ## size and coverage with clusters; slow
bench-walk: ; $(python) benchmarks/walk.py ## files and packages that a request enters
bench-monitoring: ; $(python) benchmarks/monitoring.py $(ARGS) ## false alarms and delays of a monitor, the tables in docs/how-to/monitor.md; ten minutes
