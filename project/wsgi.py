"""The WSGI application, for any server program; `manage.py serve` runs it on granian."""

from __future__ import annotations

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "project.settings")

application = get_wsgi_application()

# They need the apps that the line above sets up.
from project.checks import refuse_a_wrong_start  # noqa: E402
from runtime.describe.workshop import WORKSHOP  # noqa: E402
from runtime.serving.usage import usage  # noqa: E402

refuse_a_wrong_start()
usage.write_from_now_on()
WORKSHOP.open()
