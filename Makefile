# Two commands do everything on a machine with python3, make and git:
#   make run     install into .venv, run the main job, say where its report is
#   make test    install what the tests need, check format, lint, types and imports, run all tests
# and three more:
#   make quick      within a minute, for the change at hand: a few examples of each law, kernels, the shape of the code
#   make test-all   all tests, more examples, and the campaigns that take long
#   make docs       the site, into build/site: pages and examples run, what they print is compared
# and, for a release: make dist, make man, make screenshot

PYTHON ?= python3
BIN = .venv/bin
# one thread of BLAS each: workers share the cores
PYTEST = OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -n auto --dist worksteal

.PHONY: run test test-all quick tools check generated screenshot docs docs-pages docs-offline inventories paper man dist clean

run: .venv/installed
	$(BIN)/polhode run --out out/t-handle --overwrite

test: tools check
	$(PYTEST)

QUICK = tests/laws $(addprefix tests/, kernel/test_cpython_call.py kernel/test_trace.py scalar/test_structured.py \
  model/test_description.py formats/test_yaml.py cli/test_info.py shape)

quick: .venv/tested
	POLHODE_EXAMPLES=5 $(PYTEST) -q $(QUICK)

test-all: test
	POLHODE_EXAMPLES=400 $(PYTEST) tests/laws
	$(PYTEST) -m long
	POLHODE_LONG=1 $(BIN)/pytest -m "long or not long" tests/simulation/test_recording_killed.py tests/result/test_store.py

# a browser and a C compiler, found or fetched
tools: .venv/tested
	@$(BIN)/python tests/support/tools.py

check: .venv/tested
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

# files made from the program: schema, table of methods, stub, equation index; and the speeds on docs/performance.md
generated: .venv/tested
	PYTHONPATH=tests:tests/campaigns:tests/support:docs/_tools $(BIN)/python tests/support/generated.py

# the figures of the paper; and the paper as a page, where pandoc is installed
paper: .venv/tested
	$(BIN)/python paper/figures.py
	@if command -v pandoc >/dev/null; then cd paper && pandoc --citeproc --standalone --mathml -o paper.html paper.md && echo paper/paper.html; \
	  else echo "The text is paper/paper.md; pandoc, where installed, makes paper/paper.html of it."; fi

# manual pages, for `man -l build/man1/polhode.1`
man: .venv/installed
	$(BIN)/polhode manual --out build/man1 --overwrite

# wheel and source archive, checked; the wheel is installed alone, run, and measured
dist: .venv/packed
	rm -rf dist
	$(BIN)/python -m build --outdir dist .
	$(BIN)/twine check --strict dist/*
	$(BIN)/check-wheel-contents dist/*.whl
	$(BIN)/python tests/support/wheel.py dist/*.whl

# the pictures of the README
screenshot: tools run
	$(BIN)/python docs/screenshot.py out/t-handle/report.html docs/report.png
	$(BIN)/polhode animate out/t-handle --out docs/t-handle.gif --seconds 8 --rate 12 --size 480x320 --no-trails --overwrite

# the site: pages and examples run (kept in build/ until they or the package change), every warning is an error
docs: .venv/documented
	OPENBLAS_NUM_THREADS=1 $(BIN)/python docs/_tools/build_site.py

# the pages run and are compared, nothing is built
docs-pages: .venv/documented
	OPENBLAS_NUM_THREADS=1 $(BIN)/python docs/_tools/build_site.py --pages-only

# the site as one file to hand on: unpack it anywhere, open index.html
docs-offline: docs
	cd build && rm -f polhode-docs.zip && $(abspath $(BIN))/python -m zipfile -c polhode-docs.zip site/

# inventories of other sites, from their sites; without a network what is kept stays
inventories: .venv/made
	$(BIN)/python docs/_tools/inventories.py

.venv/made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Polhode needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1)." \
	         "Give another one: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
	  { echo "Python's venv is missing. Install it first, on Debian or Ubuntu: apt install python3-venv"; exit 1; }
	$(PYTHON) -m venv .venv
	@touch $@

.venv/installed: .venv/made pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

.venv/tested: .venv/made pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	@touch $@ .venv/installed

.venv/documented: .venv/made pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	@touch $@ .venv/installed

.venv/packed: .venv/made pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dist]'
	@touch $@ .venv/installed

clean:
	rm -rf .venv out build dist src/polhode/_version.py .hypothesis .pytest_cache .ruff_cache .mypy_cache .import_linter_cache
