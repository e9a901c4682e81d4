"""The CRM server's application for a server program; `manage.py crmserver` runs it on granian."""

from __future__ import annotations

import django

django.setup()

from crmbox.webapi.application import application  # noqa: E402  needs the apps
from crmbox.webapi.handlers import load_handlers  # noqa: E402

load_handlers()

__all__ = ["application"]
