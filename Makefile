# Two commands: `make lab` serves Lab 08 (PORT=2719 chooses the port), `make test` runs every test.
# Both need only Python 3.11 on Debian.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PYTEST_ARGS ?=

.PHONY: lab test bench lint clean

$(BIN)/.lab: pyproject.toml requirements.lock
	@echo "Installing Fleetlab into $(VENV): about a minute, the first time only."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || \
	  { rm -rf $(VENV); echo "$(PYTHON) has no venv module: apt-get install python3-venv" >&2; exit 1; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c requirements.lock -e .
	@touch $@

$(BIN)/.test: $(BIN)/.lab
	@echo "Installing what the tests need."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c requirements.lock -e '.[test]'
	@touch $@

lab: $(BIN)/.lab
	@$(BIN)/fleetlab run 08 $(if $(PORT),--port $(PORT))

test: $(BIN)/.test
	@CHROMIUM="$$(sh tests/find-chromium)" && export CHROMIUM && $(BIN)/python -m pytest $(PYTEST_ARGS)

bench: $(BIN)/.test
	@CHROMIUM="$$(sh tests/find-chromium)" && export CHROMIUM && $(BIN)/python -m pytest tests/benchmarks --benchmark-only $(PYTEST_ARGS)

lint: $(BIN)/.test
	$(BIN)/ruff check .
	$(BIN)/mypy

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache
