from __future__ import annotations

from django.apps import AppConfig


class Stock(AppConfig):
    name = "bench.applications.stock"
    label = "stock"
