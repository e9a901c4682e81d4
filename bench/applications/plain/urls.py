from __future__ import annotations

from django.urls import path

from bench.applications.plain.views import create_account, option_set, option_set_in_memory

urlpatterns = [
    path("optionsets/<name>", option_set),
    path("memory/optionsets/<name>", option_set_in_memory),
    path("api/sales/accounts", create_account),
]
