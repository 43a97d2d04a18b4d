# Every target prepares what it needs inside this folder (.tools/, .venv/, node_modules/ of its npm packages) and nothing outside it.
#
#   ARGS=...             what follows the program of a target: make test ARGS=tests/unit/hub (then pytest alone), make demo ARGS='--transcript out.jsonl'
#   ROW=setBreakpoints   of make test: the tests of one row of docs/reference/requests.md
#   DAPKIT_PYTHON=3.12   work on another version of Python, in an environment of its own (.venv-3.12)
#   SCHEMA=FILE          where the official JSON schema of the protocol lies

.DEFAULT_GOAL := help

ARGS ?=
DAPKIT_PYTHON ?=
ROW ?=
SCHEMA ?= ../shared/reference/dap/debugAdapterProtocol.json

ENVIRONMENT := .venv$(if $(DAPKIT_PYTHON),-$(DAPKIT_PYTHON))
PYTHON := $(ENVIRONMENT)/bin/python
READY := $(ENVIRONMENT)/.ready
LOCKED := pyproject.toml uv.lock .python-version tools/bootstrap.sh tools/bootstrap.py
NATIVE := hatch_build.py tools/build_native.py $(wildcard src/dapkit/python/debuggee/native/*.[ch] src/dapkit/python/debuggee/native/time_travel/*.[ch] src/dapkit/python/adapter/native/*.c)

NPM := npm_config_cache=$(CURDIR)/.tools/cache/npm npm

REPORTS := build/reports

JS_TESTS := $(wildcard tests/js/*.test.js)
JS_QUICK := $(addprefix tests/js/,$(addsuffix .test.js,line_adapter mcp mock_adapter proxy python_every_request))

# The tests start thousands of interpreters, each of which would compile everything anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo demo-cluster demo-timetravel test test-all test-python test-cluster test-posix test-windows test-js requests-table adapters-table platforms-table check check-native free-threaded bench transparency travel-corpus docs wheel check-install vscode-bundle vsix check-vscode test-vscode clean

help: ## show this list
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1 - /p' $(MAKEFILE_LIST)

demo-timetravel: $(READY) ## find a bug of that program backwards in time
	@$(PYTHON) examples/demo/backwards.py

demo-cluster: $(READY) ## find the process, of 16 of one MPI job, that keeps the others waiting
	@$(PYTHON) examples/demo/cluster.py

demo: $(READY) ## debug a small buggy program and show what happens
	@$(PYTHON) examples/demo/run.py $(ARGS)

test: ## test each behaviour, in Python and, where node is installed, in JavaScript; ROW=setBreakpoints: one request
ifeq ($(ARGS)$(ROW),)
	@echo "This takes about 6 minutes on two processors, and up to a minute more the first time. make test-all tests everything."
	@$(MAKE) --no-print-directory $(READY)
	@mkdir -p $(REPORTS)
	@$(MAKE) --no-print-directory -j 2 test-python test-js JS_OUTPUT=$(REPORTS)/real-client.txt JS_TESTS="$(JS_QUICK)"
else
	@$(MAKE) --no-print-directory test-python ARGS='$(ARGS)$(if $(ROW), --row "$(ROW)")'
endif

test-all: ## test everything: each Python, each adapter, long histories; .ci/run does
	@echo "This takes about 25 minutes on two processors."
	@$(MAKE) --no-print-directory $(READY)
	@mkdir -p $(REPORTS)
	@$(MAKE) --no-print-directory -j 2 test-python test-js JS_OUTPUT=$(REPORTS)/real-client.txt ARGS='--thorough --each-python --each-adapter $(ARGS)'

test-python: $(READY)
	$(PYTHON) -m pytest -n auto --dist worksteal --junit-xml=$(REPORTS)/python$(if $(DAPKIT_PYTHON),-$(DAPKIT_PYTHON)).xml $(ARGS)

POSIX_TESTS := tests/conformance tests/property $(addprefix tests/unit/,system protocol endpoint adapter testing transport client proxy \
    debuggee python hub catalog sessions agent mcp cli tui diagnostics jupyter) $(addprefix tests/e2e/,transport client mock_adapter proxy \
    matrix native python engine frameworks hub catalog sessions agent mcp cli diagnostics editors jupyter)
test-posix: $(READY) ## test with what every POSIX system has, as macOS; what only Linux has is refused
	$(PYTHON) tools/take_linux_away.py
	@mkdir -p $(REPORTS) && rm -f $(REPORTS)/linux-names.txt
	DAPKIT_SYSTEM=posix DAPKIT_LINUX_NAMES=$(CURDIR)/$(REPORTS)/linux-names.txt \
	    $(PYTHON) -m pytest -n auto --dist worksteal --thorough --junit-xml=$(REPORTS)/posix.xml $(ARGS) $(POSIX_TESTS)
	@if [ -s $(REPORTS)/linux-names.txt ]; then \
	    echo "dapkit has used what only Linux has:"; sort $(REPORTS)/linux-names.txt | uniq -c; exit 1; \
	fi

WINDOWS_UNITS := @tests/windows/units.txt
WINDOWS_SESSIONS := @tests/windows/sessions.txt
WINDOWS_PYTHON := 3.13
# A test that hangs ends its process, as Windows has no alarm: with -n 1 that is not the one that writes the report.
ON_WINDOWS = $(PYTHON) tools/windows/pythons.py run $(WINDOWS_PYTHON) -m pytest -p no:cacheprovider --thorough --timeout 300 -n 1
.PHONY: windows windows-units windows-sessions wheel-windows wheel-macos
windows: $(READY)
	$(PYTHON) tools/windows/pythons.py
	$(PYTHON) tools/windows/build_extension.py

test-windows: windows ## test dapkit on Windows: Python for it, which Wine runs; tools/debian_trees.sh gets that, as root
	@$(MAKE) --no-print-directory -j 2 windows-units windows-sessions

windows-units:
	@mkdir -p $(REPORTS)
	$(ON_WINDOWS) -o junit_family=xunit1 --junit-xml=$(REPORTS)/windows-units.xml $(ARGS) $(WINDOWS_UNITS)

windows-sessions:
	@mkdir -p $(REPORTS)
	$(ON_WINDOWS) -o junit_family=xunit1 --junit-xml=$(REPORTS)/windows.xml $(ARGS) $(WINDOWS_SESSIONS)

test-cluster: $(READY) ## test jobs on all engines, Ray as well, which is installed for it (300 MB)
	@if [ ! -x .tools/ray/bin/python ]; then .tools/bin/uv venv --quiet --python $(PYTHON) .tools/ray && \
	    VIRTUAL_ENV=.tools/ray .tools/bin/uv pip install --quiet 'ray[default]>=2.60' -e '.[cluster]'; fi
	DAPKIT_RAY_PYTHON=$(CURDIR)/.tools/ray/bin/python $(PYTHON) -m pytest --thorough tests/e2e/cluster tests/unit/cluster $(ARGS)

test-js: $(READY) ## let Microsoft's own test client talk to the adapters
	@mkdir -p $(REPORTS) && rm -f $(REPORTS)/real-client.*
	@if command -v node >/dev/null && command -v npm >/dev/null; then \
	    $(if $(JS_OUTPUT),exec 9>&1 >$(JS_OUTPUT) 2>&1; trap 'cat $(JS_OUTPUT) >&9' EXIT;) \
	    $(MAKE) --no-print-directory --silent tests/js/node_modules/.ready && \
	    DAPKIT_TEST_PYTHON=$(CURDIR)/$(PYTHON) DAPKIT_REAL_CLIENT=$(CURDIR)/$(REPORTS)/real-client.jsonl \
	    node --test --test-concurrency=$$(($$(nproc) + 1)) --test-reporter=spec --test-reporter-destination=stdout \
	        --test-reporter=junit --test-reporter-destination=$(REPORTS)/real-client.xml $(JS_TESTS); \
	elif [ "$${CI:-}" = true ]; then \
	    echo "node and npm are required when CI=true, and one of them is missing" >&2; exit 1; \
	else \
	    echo "skipped the JavaScript tests: node or npm is not installed"; \
	fi

requests-table: $(READY) ## write docs/reference/requests.md, from the adapter and the reports of the last make test
	$(PYTHON) tools/requests_table.py
	$(PYTHON) tools/behaviours_page.py

platforms-table: $(READY) ## write the table of docs/reference/platforms.md, from the reports of test-all, test-posix, test-windows
	$(PYTHON) tools/platforms_table.py

adapters-table: $(READY) ## write docs/reference/adapters.md, from the report of the last make test
	$(PYTHON) tools/adapters_table.py $(ARGS)

check: $(READY) ## check format, lint, types, layers, words, the lock file, the generated code and the tables of the reference
	$(ENVIRONMENT)/bin/ruff format --check .
	$(ENVIRONMENT)/bin/ruff check .
	$(ENVIRONMENT)/bin/mypy
	$(ENVIRONMENT)/bin/mypy --platform darwin src
	$(ENVIRONMENT)/bin/mypy --config-file tools/windows/mypy.toml src
	$(ENVIRONMENT)/bin/lint-imports
	$(PYTHON) tools/check_words.py
	.tools/bin/uv lock --check --quiet --no-cache --python $(PYTHON)
	$(PYTHON) tools/requests_table.py --check --reports $(REPORTS)/none
	$(PYTHON) tools/platforms_table.py --check
	$(PYTHON) tools/catalog_table.py --check
	$(PYTHON) tools/adapters_table.py --check
	$(PYTHON) tools/generate_actions.py --check
	$(PYTHON) tools/commands_page.py --check
	$(PYTHON) tools/works_with_table.py --check
	$(PYTHON) tools/from_debugpy_page.py --check
	$(PYTHON) tools/vscode_schema.py --check
	$(PYTHON) tools/figures_chart.py --check
	$(PYTHON) tools/growth_chart.py --check
	$(PYTHON) tools/behaviours_page.py --check
	@if [ -f $(SCHEMA) ]; then \
	    echo $(PYTHON) tools/generate_protocol.py --check $(SCHEMA); \
	    $(PYTHON) tools/generate_protocol.py --check $(SCHEMA); \
	else \
	    echo "did not compare the generated code: no schema at $(SCHEMA)"; \
	fi

check-native: $(READY) ## run the tests of the C extension under valgrind
	$(PYTHON) tools/check_native.py $(ARGS)

free-threaded: $(READY) ## build free-threaded Pythons from Debian's sources, which takes minutes, and run the engine's tests there
	tools/free_threaded.sh
	$(PYTHON) tools/build_native.py --each-python
	$(PYTHON) -m pytest -n auto --dist worksteal --free-threaded $(or $(ARGS),tests/e2e/engine tests/e2e/native)

bench: $(READY) ## measure speed and print the tables, which takes half an hour; ARGS='--write docs/reference/figures.md' keeps them
	@status=0; for script in benchmarks/*.py; do $(PYTHON) $$script $(ARGS) || status=1; done; $(PYTHON) tools/figures_chart.py; $(PYTHON) tools/growth_chart.py; exit $$status

transparency: $(READY) ## run CPython's own tests under the debugger, and compare; ARGS=--all all of them, ARGS=--packages those of packages
	$(PYTHON) tools/measure_transparency.py $(ARGS)

travel-corpus: $(READY) ## measure time travel and recordings on programs with packages, which takes half an hour; ARGS=--write keeps the table
	$(PYTHON) tools/measure_travel.py $(ARGS)

docs: .venv-docs/.ready ## build the documentation into docs/_build/html
	.venv-docs/bin/sphinx-build --quiet --fail-on-warning --keep-going -d docs/_build/doctrees docs docs/_build/html
	@echo "open docs/_build/html/index.html"

wheel: $(READY) .venv-wheel/.ready ## build the sdist, and a wheel for every Linux and every CPython from 3.12 on, into dist/
	$(PYTHON) tools/build_wheel.py .tools/bin/uv .venv-wheel/bin dist

wheel-windows: wheel windows ## build a wheel for Windows too; after tools/debian_trees.sh, as root
	rm -f dist/*win_amd64.whl
	$(PYTHON) tools/other_wheels.py .venv-wheel/bin dist/*manylinux*.whl dist windows

wheel-macos: wheel ## build a wheel for macOS too, without the C extension
	rm -f dist/*macosx*.whl
	$(PYTHON) tools/other_wheels.py .venv-wheel/bin dist/*manylinux*.whl dist macos

check-install: $(READY) .venv-wheel/.ready ## install that into an empty environment of each Python, and debug there
	$(PYTHON) tools/check_install.py .tools/bin/uv .venv-wheel/bin

vscode-bundle: $(READY) .venv-wheel/.ready
	$(PYTHON) tools/bundle_vscode.py .tools/bin/uv .venv-wheel/bin editors/vscode/bundled $(VSIX_TARGET)

export VSIX_TARGET ?= linux-$(shell uname -m | sed 's/x86_64/x64/; s/aarch64/arm64/')
vsix: editors/vscode/node_modules/.ready ## package the extension for VS Code into dist/; VSIX_TARGET=win32-x64 (after make windows), darwin-arm64, darwin-x64
	@mkdir -p dist
	cd editors/vscode && $(NPM) exec -- vsce package --allow-missing-repository --target $(VSIX_TARGET) --out $(CURDIR)/dist/

check-vscode: editors/vscode/node_modules/.ready ## check format, lint and types of the extension for VS Code, and test what it decides
	cd editors/vscode && $(NPM) run check && $(NPM) test

test-vscode: $(READY) vsix editors/vscode/code-server/node_modules/.ready ## debug in VS Code, in a headless browser; installs Chromium where it is missing
	@mkdir -p $(REPORTS)
	cd editors/vscode && $(NPM) exec -- tsc && DAPKIT_TEST_PYTHON=$(CURDIR)/$(PYTHON) DAPKIT_REPORTS=$(CURDIR)/$(REPORTS) \
	    DAPKIT_VSIX=$$(ls -t $(CURDIR)/dist/dapkit-*.vsix | head -n 1) node --test --test-reporter=spec out/browser-test/*.test.js

clean: ## remove everything that make has made, the environments included
	rm -rf .tools .venv .venv-* tests/js/node_modules docs/_build build dist
	rm -rf editors/vscode/node_modules editors/vscode/out editors/vscode/bundled editors/vscode/code-server/node_modules
	rm -f src/dapkit/python/debuggee/_native.*.so src/dapkit/python/debuggee/_travel.*.so src/dapkit/python/adapter/dapkit-supervisor
	rm -rf .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +

$(READY): $(LOCKED) $(NATIVE)
	@tools/bootstrap.sh --environment $(ENVIRONMENT) $(if $(DAPKIT_PYTHON),--python $(DAPKIT_PYTHON))

.venv-docs/.ready: $(LOCKED)
	@tools/bootstrap.sh --environment .venv-docs --group docs

.venv-wheel/.ready: $(LOCKED)
	@tools/bootstrap.sh --environment .venv-wheel --group wheel

tests/js/node_modules/.ready: tests/js/package.json tests/js/package-lock.json
	cd tests/js && $(NPM) ci --ignore-scripts --no-audit --no-fund
	@touch $@

editors/vscode/node_modules/.ready: editors/vscode/package-lock.json
	cd editors/vscode && $(NPM) ci --ignore-scripts --no-audit --no-fund
	@touch $@

editors/vscode/code-server/node_modules/.ready: editors/vscode/code-server/package-lock.json editors/vscode/code-server/install.sh
	npm_config_cache=$(CURDIR)/.tools/cache/npm editors/vscode/code-server/install.sh
	@touch $@
