"""The WSGI application, for any server program; `manage.py serve` runs it on granian."""

from __future__ import annotations

import os

import django
from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "project.settings")

django.setup(set_prefix=False)

# They need the apps that the line above sets up.
from project.application import Application  # noqa: E402
from project.change_polling import poll_from_now_on  # noqa: E402
from project.checks import refuse_a_wrong_start  # noqa: E402
from project.housekeeping import tidy_from_now_on  # noqa: E402
from project.metadata_refresh import refresh_from_now_on  # noqa: E402
from project.observability import access_log, process_figures  # noqa: E402
from project.observability.ledger import ledger  # noqa: E402
from project.refresh_runs import refresh_runs  # noqa: E402
from runtime.callers.refusal_counts import refusal_counts  # noqa: E402
from runtime.describe.fragment_maker import CHILD  # noqa: E402
from runtime.http.outages import outages  # noqa: E402
from runtime.serving.served import serve_from_now_on  # noqa: E402
from runtime.serving.usage import usage  # noqa: E402

application = Application()

refuse_a_wrong_start()
process_figures.tell_from_now_on()
if settings.PORTICO["OPENTELEMETRY"]:
    from project.observability import telemetry

    # Before the log, which names the traces.
    ledger.add_reader(telemetry.tell)
if access_log.is_wanted():
    ledger.add_reader(access_log.write)
ledger.add_reader(outages.answered)
ledger.keep_from_now_on()
usage.write_from_now_on()
refusal_counts.write_from_now_on()
tidy_from_now_on()
refresh_from_now_on()
refresh_runs.run_from_now_on()
poll_from_now_on()
CHILD.use_from_now_on()
serve_from_now_on()
