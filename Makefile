# reproduce: environment, data, training, tables, report. test: all tests. test-fast: no Snakemake or DVC, no browser,
# no slow ones. environment: .venv only.
PYTHON ?= python3
VENV := .venv
UV := $(VENV)/bin/uv
INSTALLED := $(VENV)/.environment

.PHONY: reproduce study test test-fast coverage lint environment docs lock benchmarks rulegraph picture
.DELETE_ON_ERROR:
# every tool is taken from the environment, also by the commands that snakemake and dvc start
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
export VIRTUAL_ENV := $(CURDIR)/$(VENV)
export DVC_NO_ANALYTICS := 1
# Snakemake and DVC keep files in the home, which a batch system or a container may not give
ifneq ($(shell test -w "$$HOME" && echo writable),writable)
export HOME := $(CURDIR)/.snakemake/home
endif
# what is imported is compiled then, once: compiling all that is installed takes four times as long as installing it
unexport PYTHONDONTWRITEBYTECODE

# what is missing, then the lock of DVC. Interrupted, the same command goes on where it was; logs are in results/logs
reproduce: environment
	@snakemake --cores all $$(test -t 1 && echo --logger rich) && recompose store commit

# the demo repeated with other seeds, in hours; its reports go to reports/study. DVC follows params.yaml alone
study: environment
	snakemake --quiet reason --cores all --config profile=study

# one process more than cores, as tests of Snakemake and DVC wait at times
test: environment
	pytest -n 3 --dist worksteal

FAST := HYPOTHESIS_PROFILE=fast pytest -n 2 --dist worksteal -m "not engines and not browser and not slow"
test-fast: environment
	$(FAST)

# percent of the lines of packages that the fast tests run at least; pyproject.toml has that of all
COVERED := backbones=85 claims=96 data=92 papers=91 params=87 synthetic=97 training=83 \
  tracks/czsl=89 tracks/gzsl=78 tracks/vlc=78
coverage: environment
	$(FAST) --cov --cov-report=
	@for floor in $(COVERED); do \
	  run=$$(coverage report --format=total --precision=1 --fail-under=$${floor#*=} --include="src/recompose/$${floor%=*}/*") \
	    || below="$$below $$floor"; \
	  echo "$${floor%=*}: $$run"; \
	done; \
	test -z "$$below" || { echo "less than the floor:$$below; coverage report -m names the lines"; exit 1; }

lint: environment
	ruff check .
	ruff format --check .
	mypy
	lint-imports

# benchmarks.kills, benchmarks.mutation and benchmarks.paper_scale take longer: see their --help
benchmarks: environment
	python -m benchmarks.methods
	python -m benchmarks.suites
	python -m benchmarks.workflow

environment: $(INSTALLED)

$(INSTALLED): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11, 4))' || { echo "Python 3.11.4 or later is needed, and $(PYTHON) is $$($(PYTHON) --version 2>&1): make PYTHON=python3.12 ..."; exit 1; }
	test -x $(VENV)/bin/python || $(PYTHON) -m venv $(VENV)
	test -x $(UV) || $(VENV)/bin/python -m pip install --quiet uv
	$(UV) pip sync --quiet --require-hashes requirements.lock
	$(UV) pip install --quiet --no-deps --no-build-isolation --editable .
	touch $@

# the rules of a fresh clone, as docs/explanation/architecture.md shows them
rulegraph: environment
	@snakemake --quiet all --rulegraph mermaid-js page | sed '/^---/,/^---/d; /style/d; s/ TB/ LR/'

# numbers and tables in README.md and docs/, by the calls in their comments
docs: environment
	cog -r -I . -p "from docs.blocks import *" README.md docs/results.md docs/reference/*s.md

# the README's picture of the page, with Chromium
picture: environment
	python docs/picture.py

lock:
	$(UV) pip compile pyproject.toml --extra workflow --extra dev --universal --generate-hashes --no-emit-index-url --no-header --quiet -o requirements.lock
