"""Where the versions of one item are listed."""

from __future__ import annotations

from urllib.parse import urlencode

from django.urls import reverse


def versions_of(collection: str, key: str) -> str:
    return f"{reverse('studio:versions')}?{urlencode({'list': collection, 'key': key})}"
