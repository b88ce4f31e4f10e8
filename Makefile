# Everything runs in one local virtual environment, .venv, which any target sets up if need be.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := $(shell find core -name '*.[ch]pp') CMakeLists.txt pyproject.toml
# Built from source without isolation, so that only what changed is compiled again.
BUILD_TOOLS := "scikit-build-core>=0.10" "nanobind>=2.4" "cmake>=3.18" ninja

.PHONY: demo test lint bench sanitize stress clean help

help:
	@echo "make demo    a map of handwritten digits in map.png, and as a page in map.html"
	@echo "make test    lint and all tests"
	@echo "make lint    ruff, mypy and clang-format"
	@echo "make sanitize  the core's tests under AddressSanitizer, UndefinedBehaviorSanitizer and ThreadSanitizer"
	@echo "make stress  that, 200 fits in one process, 60 runs and 20 workers killed, and many more made-up inputs"
	@echo "make bench   time and memory against points and pixels; needs no data, takes a minute or two"
	@echo "make clean   remove the environment and what was built"

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

# Two files at a time: tests use several threads themselves.
test: lint
	$(BIN)/python -m pytest -n 2 --dist loadfile --cov=pixelsne --cov-fail-under=95

sanitize: $(VENV)/.installed
	$(BIN)/python tests/stress/sanitizers.py

stress: sanitize
	$(BIN)/python tests/stress/soak.py
	$(BIN)/python tests/stress/kills.py 60
	$(BIN)/python tests/stress/killed_workers.py 20
	EXAMPLES=5000 $(BIN)/python -m pytest tests/test_inputs.py -k finite_map

bench: $(VENV)/.installed
	$(BIN)/python benchmarks/scaling.py --sizes 1000,3000,10000,30000,100000 \
		--n-for-resolution 30000 --n-along 30000 --suffix quick

clean:
	rm -rf $(VENV) build dist map.png map.html
