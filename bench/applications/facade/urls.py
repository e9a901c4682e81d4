from __future__ import annotations

from django.urls import path

from bench.applications.facade import portal
from bench.applications.facade.views import AccountRecord, AccountView

urlpatterns = [
    path("api/sales/accounts", AccountView.as_view()),
    path("api/sales/bench/<uuid:pk>", AccountRecord.as_view()),
    path("api/context", portal.ContextView.as_view()),
    path("optionsets/priorities", portal.PrioritiesView.as_view()),
    path("api/portal/queries/articles", portal.ArticleList.as_view()),
    path("api/portal/articles/<uuid:pk>", portal.ArticleView.as_view()),
    path("api/portal/queries/my-cases", portal.MyCases.as_view()),
    path("api/portal/cases", portal.NewCase.as_view()),
    path("api/portal/cases/<uuid:pk>", portal.CaseView.as_view()),
    path("api/portal/cases/<uuid:pk>/files/attachments/<uuid:note>", portal.AttachmentView.as_view()),
]
