from __future__ import annotations

from django.urls import path

from bench.applications.facade.views import AccountRecord, AccountView

urlpatterns = [
    path("api/sales/accounts", AccountView.as_view()),
    path("api/sales/bench/<uuid:pk>", AccountRecord.as_view()),
]
