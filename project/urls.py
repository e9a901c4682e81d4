"""The URLs of pages and health. Requests of the API do not come here: see `runtime.serving.dispatch`."""

from __future__ import annotations

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path
from django.views.generic import RedirectView

from project import health, pages
from project.observability import metrics_page

urlpatterns: list[URLPattern | URLResolver] = [
    path("", pages.landing, name="landing"),
    path("favicon.ico", pages.mark),
    path("admin", RedirectView.as_view(url="/admin/")),
    path("admin/", include("designer.studio.urls")),
    path("admin/", admin.site.urls),
    path("health/live", health.live),
    path("health/ready", health.ready),
    path("metrics", metrics_page.page),
]

handler400 = "project.pages.bad_request"
handler403 = "project.pages.forbidden"
handler404 = "project.pages.not_found"
handler500 = "project.pages.server_error"
