# Every target works on a fresh clone; the first one that needs it makes .venv. PORT, HOST and all of docs/settings.md are
# read from the environment or given here: make run PORT=9000. PYTHON names the Python for .venv: make test PYTHON=python3.12

INSTALL = @python=$$(scripts/python "$(PYTHON)") && "$$python" scripts/install.py $(if $(PYTHON),--with-this-python)
BIN = .venv/bin
# How long each of the drills lasts.
SECONDS = 120
DEVELOPMENT = PORTICO_MODE="$${PORTICO_MODE:-development}"

.PHONY: run test check a11y drills bench client lock

run:    ; $(INSTALL) requirements.txt && export $(DEVELOPMENT) && $(BIN)/python manage.py prepare && exec $(BIN)/python manage.py serve
test:   ; $(INSTALL) requirements-dev.txt && $(BIN)/python -m pytest -n auto --maxprocesses 4 $(ARGS)
check:  ; $(INSTALL) requirements-dev.txt && $(BIN)/python scripts/check.py
a11y:   ; $(INSTALL) requirements-dev.txt && $(BIN)/python -m pytest tests/designer/test_access.py --a11y $(ARGS)
drills: ; $(INSTALL) requirements-dev.txt && $(BIN)/python -m pytest -rP tests/drills --drills $(SECONDS) $(ARGS)
bench:  ; $(INSTALL) requirements-dev.txt bench/requirements.txt && $(BIN)/python -m bench $(ARGS)
client: ; $(INSTALL) requirements-dev.txt && $(BIN)/python -m scripts.clients $(ARGS)
lock:   ; $(INSTALL) requirements-dev.txt && $(BIN)/python -m scripts.lock
