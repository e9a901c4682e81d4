"""The WSGI application, for any server program; `manage.py serve` runs it on granian."""

from __future__ import annotations

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "project.settings")

django.setup(set_prefix=False)

# They need the apps that the line above sets up.
from project.application import Application  # noqa: E402
from project.checks import refuse_a_wrong_start  # noqa: E402
from project.tidying import tidy_from_now_on  # noqa: E402
from runtime.describe.fragment_maker import CHILD  # noqa: E402
from runtime.serving.usage import usage  # noqa: E402

application = Application()

refuse_a_wrong_start()
usage.write_from_now_on()
tidy_from_now_on()
CHILD.use_from_now_on()
