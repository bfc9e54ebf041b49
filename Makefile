# make demo and make test set everything up in .venv; a second run is quick.
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
CORE := CMakeLists.txt pyproject.toml $(shell find core -type f)

.PHONY: demo docs look test fuzz tsan reproduce lint bench test-lowest test-arviz sdist browser clean

demo:
	@test -e $(VENV)/.installed || echo "1/2  Setting up $(VENV): Python packages, then the C++ core. The first time takes some minutes."
	@$(MAKE) --no-print-directory $(VENV)/.installed
	@mkdir -p demo
	@echo "2/2  Choosing among 64 columns of the diabetes data, and writing a report:"
	@echo "     $(VENV)/bin/ellzero select --example diabetes --interactions --posterior --report demo/diabetes.html"
	@echo
	@$(VENV)/bin/ellzero select --example diabetes --interactions --posterior --report demo/diabetes.html
	@echo
	@echo "The report: file://$(CURDIR)/demo/diabetes.html"
	@echo "What to try next:"
	@echo "  $(VENV)/bin/ellzero select YOURS.csv --target COLUMN --report yours.html"
	@echo "  $(VENV)/bin/ellzero posterior --example diabetes --report demo/posterior.html"
	@echo "  $(VENV)/bin/ellzero --help"

# Modules are compiled once, not by every process that a test starts, whatever the environment says.
test: export PYTHONDONTWRITEBYTECODE =
test: $(VENV)/.installed $(VENV)/.test
	$(PY) -m pytest -n logical --dist worksteal

# The site, docs/_build/html, offline: pages, API reference, and the gallery, whose scripts are run.
# A warning, a name that leads nowhere, a dead link within the site or a failing script is an error.
docs: $(VENV)/.installed $(VENV)/.docs
	$(PY) -m sphinx -q -W --keep-going -n -j auto -d docs/_build/doctrees docs docs/_build/html
	$(PY) docs/check_links.py docs/_build/html

# Every page of the site in chromium, as on a phone and as on a dark wide screen: some minutes. After make docs.
look: $(VENV)/.test
	$(PY) docs/check_pages.py docs/_build/html

# Random hostile problems against slow oracles, seeds from the date on: some minutes. Each case that
# fails, dies or hangs is named with the command that runs it again. make fuzz SEED=7 CASES=1000000
# is a night's work or two; FAMILY= is for one kind of case only, LIMIT= says when a case hangs.
SEED ?= $(shell date +%Y%m%d)
CASES ?= 3000
LIMIT ?= 120
fuzz: $(VENV)/.installed $(VENV)/.test
	PYTHONPATH=tests $(PY) -m fuzz --seed $(SEED) --cases $(CASES) --limit $(LIMIT) --family "$(FAMILY)"

# Threads of the core under GCC's thread sanitizer, on Linux; a race ends with exit code 66. Python is
# not instrumented, polars does not load under it, and addresses must not be random.
tsan:
	$(PYTHON) -m venv .venv-tsan
	.venv-tsan/bin/python -m pip install -q --disable-pip-version-check .[test] -C build-dir=build/tsan \
	  -C cmake.build-type=RelWithDebInfo -C cmake.define.CMAKE_CXX_FLAGS=-fsanitize=thread -C install.strip=false
	LD_PRELOAD=$$($(CXX) -print-file-name=libtsan.so) OMP_NUM_THREADS=3 \
	  TSAN_OPTIONS="ignore_noninstrumented_modules=1 exitcode=66" \
	  setarch -R .venv-tsan/bin/python -m pytest -q tests/core tests/regression/test_cv.py \
	  tests/posterior/test_enumeration.py tests/posterior/test_samplers.py tests/segmentation/test_path.py \
	  -k "not check_estimator and not agrees_with_enumeration"

# The paper's figures and tables with few trials: some minutes. All of them: ellzero reproduce.
reproduce: $(VENV)/.installed
	rm -rf reproduction
	$(VENV)/bin/ellzero reproduce --quick --out reproduction

lint: $(VENV)/.installed $(VENV)/.lint
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/clang-format --dry-run --Werror $$(find core -name '*.?pp')

bench: $(VENV)/.installed
	$(PY) benchmarks/sbr.py
	@echo
	$(PY) benchmarks/summary.py

# The oldest versions that pyproject.toml allows, in an environment of their own.
test-lowest:
	$(PYTHON) -m venv .venv-lowest
	.venv-lowest/bin/python -m pip install -q -r tests/lowest-versions.txt
	.venv-lowest/bin/python -m pip install -q .[test] -c tests/lowest-versions.txt
	.venv-lowest/bin/python -m pytest tests

# What ArviZ is given, with ArviZ 1.x, which needs Python 3.12 or newer: make PYTHON312=/path/to/it
PYTHON312 ?= python3.12
test-arviz:
	$(PYTHON312) -m venv .venv-arviz
	.venv-arviz/bin/python -m pip install -q --disable-pip-version-check .[test] "arviz>=1"
	.venv-arviz/bin/python -m pytest tests/posterior/test_arviz.py

# The source archive, dist/, and what users do with it: pip alone, in an environment of its own, and a first report.
sdist: $(VENV)/.build
	rm -rf dist .venv-sdist
	$(PY) -c 'from scikit_build_core.build import build_sdist; build_sdist("dist")'
	$(PYTHON) -m venv .venv-sdist
	.venv-sdist/bin/python -m pip install -q --disable-pip-version-check dist/ellzero-*.tar.gz
	cd .venv-sdist && bin/ellzero --version && bin/ellzero select --example diabetes --quiet --report diabetes.html

# For the tests that look at a report in a real browser; without one they are skipped.
browser:
	@if command -v chromium >/dev/null && command -v chromedriver >/dev/null; then exit 0; fi; \
	if [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then \
	  echo "chromium and chromedriver are not here, and only root on Debian can install them"; exit 0; fi; \
	install="apt-get install -y -qq --no-install-recommends chromium chromium-driver"; \
	export DEBIAN_FRONTEND=noninteractive; \
	$$install >/dev/null 2>&1 || { apt-get update -qq && $$install >/dev/null; } || \
	  echo "chromium could not be installed"

clean:
	rm -rf $(VENV) .venv-lowest .venv-arviz .venv-tsan .venv-sdist build dist demo reproduction docs/_build docs/auto_examples docs/api/ellzero*.rst

# A line for each step, for the first time takes minutes.
$(VENV)/bin/python:
	@echo "     Making a virtual environment in $(VENV) ..."
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "ellzero needs Python 3.11 or newer: make PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
	  { rm -rf $(VENV); echo "$(PYTHON) can't make virtual environments (Debian: apt install python3-venv)"; exit 1; }

$(VENV)/.build: $(VENV)/bin/python
	@echo "     Fetching what builds it: scikit-build-core, nanobind, cmake, ninja ..."
	@$(PY) -m pip install -q --disable-pip-version-check scikit-build-core nanobind cmake ninja
	@touch $@

# Python files are used in place; only a change to the core needs this again.
$(VENV)/.installed: $(VENV)/.build $(CORE)
	@echo "     Fetching numpy, scikit-learn and others, and compiling the core: a minute or more ..."
	@$(PY) -m pip install -q --disable-pip-version-check --no-build-isolation -e .
	@touch $@

$(VENV)/.test $(VENV)/.lint $(VENV)/.docs: $(VENV)/.%: $(VENV)/.installed
	$(PY) -m pip install -q --disable-pip-version-check --no-build-isolation -e .[$*]
	@touch $@
