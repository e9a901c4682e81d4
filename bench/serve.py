"""Our service as `make run` serves it: `python -m bench.serve THREADS PORT`."""

from __future__ import annotations

import os
import sys

from bench.servers import ROOT

if __name__ == "__main__":
    threads, port = sys.argv[1:]
    os.environ.update(THREADS=threads, PORT=port)
    os.execv(sys.executable, [sys.executable, str(ROOT / "manage.py"), "serve"])
