from __future__ import annotations

from django.urls import path

from bench.applications.plain.records import account_record, contract, list_accounts
from bench.applications.plain.views import create_account, option_set, option_set_in_memory

urlpatterns = [
    path("optionsets/<name>", option_set),
    path("memory/optionsets/<name>", option_set_in_memory),
    path("api/sales/accounts", create_account),
    path("api/sales/bench/<uuid:key>", account_record),
    path("api/sales/bench/<uuid:key>/files/contract", contract),
    path("api/sales/queries/bench", list_accounts),
]
