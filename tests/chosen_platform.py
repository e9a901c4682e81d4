"""The platform of the service in this process, as a test chooses it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from crmclient.dataverse.platform import DataversePlatform
from designer.overview import forget
from designer.platform import get_platform
from runtime.http.outages import outages
from runtime.serving import served

_chosen: list[DataversePlatform] = []


def chosen_platform() -> DataversePlatform:
    """What the setting PLATFORM names."""
    return _chosen[-1]


@contextmanager
def serving_with(platform: DataversePlatform, settings: Any, **others: Any) -> Iterator[None]:
    """The service's platform is `platform`, and `others` are further settings of Portico."""
    settings.PORTICO = {**settings.PORTICO, **others, "PLATFORM": f"{__name__}.chosen_platform"}
    choose(platform)
    yield
    forget_platform()


def choose(platform: DataversePlatform) -> None:
    """From now on it is this one, in a test that has begun with another."""
    _chosen.append(platform)
    forget_platform()


def forget_platform() -> None:
    """Forget what this process knows of its platform, as a process does that starts."""
    get_platform.cache_clear()
    forget()
    outages.forget()
    served._served = None
