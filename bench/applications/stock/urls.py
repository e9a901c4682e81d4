from __future__ import annotations

from django.urls import path

from bench.applications.stock.records import AccountList, AccountRecord, ContractView
from bench.applications.stock.views import AccountView, OptionSetInMemoryView, OptionSetView

urlpatterns = [
    path("optionsets/<name>", OptionSetView.as_view()),
    path("memory/optionsets/<name>", OptionSetInMemoryView.as_view()),
    path("api/sales/accounts", AccountView.as_view()),
    path("api/sales/bench/<uuid:pk>", AccountRecord.as_view()),
    path("api/sales/bench/<uuid:pk>/files/contract", ContractView.as_view()),
    path("api/sales/queries/bench", AccountList.as_view()),
]
