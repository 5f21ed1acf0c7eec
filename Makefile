# Two commands do everything on a machine with python3 and make:
#   make run     install into .venv and run the main job
#   make test    install what the tests need, check format, lint, types and imports, run all tests

PYTHON ?= python3
BIN = .venv/bin

.PHONY: run test test-all check equations clean

run: .venv/installed
	@mkdir -p out
	$(BIN)/polhode compare --out out/compare.png --overwrite

test: .venv/tested check
	$(BIN)/pytest -n auto --dist worksteal

test-all: test
	POLHODE_EXAMPLES=400 $(BIN)/pytest -n auto --dist worksteal tests/laws

check: .venv/tested
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

equations: .venv/tested
	$(BIN)/python tests/index.py

.venv/made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Polhode needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1)." \
	         "Give another one: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
	  { echo "Python's venv is missing. Install it first, on Debian or Ubuntu: apt install python3-venv"; exit 1; }
	$(PYTHON) -m venv .venv
	@touch $@

.venv/installed: .venv/made pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[plot]'
	@touch $@

.venv/tested: .venv/made pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	@touch $@ .venv/installed

clean:
	rm -rf .venv out build .hypothesis .pytest_cache .ruff_cache .mypy_cache .import_linter_cache
