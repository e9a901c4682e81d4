from __future__ import annotations

from django.urls import path

from bench.applications.stock.views import AccountView, OptionSetInMemoryView, OptionSetView

urlpatterns = [
    path("optionsets/<name>", OptionSetView.as_view()),
    path("memory/optionsets/<name>", OptionSetInMemoryView.as_view()),
    path("api/sales/accounts", AccountView.as_view()),
]
