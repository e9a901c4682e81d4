"""One account at a time, all of them page by page, and the file of one."""

from __future__ import annotations

import hashlib
from typing import Any

from django.db.models import F
from django.http import FileResponse, HttpResponse
from django.http.response import HttpResponseBase
from rest_framework.exceptions import APIException, NotFound, ValidationError
from rest_framework.generics import GenericAPIView, ListAPIView
from rest_framework.pagination import CursorPagination
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from bench.applications.stock.models import Account
from bench.applications.stock.permissions import IsSales
from bench.applications.stock.serializers import (
    AccountSerializer,
    ListedAccountSerializer,
    ReadAccountSerializer,
)
from bench.applications.surroundings import WORLD
from bench.world import FILE_NAME


class Stale(APIException):
    status_code = 412
    default_code = "version_mismatch"
    default_detail = "The record has changed."


class AccountRecord(GenericAPIView):
    queryset = Account.objects.select_related("primary_contact")
    permission_classes = [IsSales]

    def get(self, request: Request, pk: Any) -> HttpResponseBase:
        _no_parameters(request)
        account = self.get_object()
        content = JSONRenderer().render(ReadAccountSerializer(account).data)
        tag = f'"{account.version}.{hashlib.sha256(content).hexdigest()[:20]}"'
        if request.headers.get("If-None-Match") == tag:
            return HttpResponse(status=304, headers={"ETag": tag})
        return HttpResponse(content, content_type="application/json", headers={"ETag": tag})

    def patch(self, request: Request, pk: Any) -> Response:
        account = self.get_object()
        meant = request.headers.get("If-Match", "*").strip('"').partition(".")[0]
        serializer = AccountSerializer(account, data=request.data, partial=True)
        serializer.is_valid(raise_exception=True)
        if meant not in ("*", str(account.version)):
            raise Stale
        changed = serializer.save(modified_by=request.user, version=F("version") + 1)
        changed.refresh_from_db(fields=["version"])
        return Response(status=204, headers={"ETag": f'"{changed.version}"'})


class Pages(CursorPagination):
    ordering = ("name", "id")
    page_size = 50
    max_page_size = 500
    page_size_query_param = "pageSize"

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> Any:
        self.total = queryset.count()
        try:
            return super().paginate_queryset(queryset, request, view)
        except NotFound as error:
            raise ValidationError({"cursor": ["This cursor is not valid."]}) from error

    def get_paginated_response(self, data: Any) -> Response:
        link = self.get_next_link()
        return Response(
            {
                "data": data,
                "count": len(data),
                "totalRecordCount": self.total,
                "hasMoreRecords": self.has_next,
                "cursor": link and link.partition("cursor=")[2].partition("&")[0],
            },
            headers={"Link": f'<{link}>; rel="next"'} if link else None,
        )


class AccountList(ListAPIView):
    queryset = Account.objects.all()
    serializer_class = ListedAccountSerializer
    permission_classes = [IsSales]
    pagination_class = Pages

    def list(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        _no_parameters(request, "pageSize", "cursor")
        size = request.query_params.get("pageSize", "50")
        if not size.isdecimal() or not 1 <= int(size) <= Pages.max_page_size:
            raise ValidationError({"pageSize": ["Between 1 and 500."]})
        return super().list(request, *args, **kwargs)


class ContractView(GenericAPIView):
    queryset = Account.objects.all()
    permission_classes = [IsSales]

    def get(self, request: Request, pk: Any) -> FileResponse:
        account = self.get_object()
        if str(account.pk) != WORLD.accounts[0].id:
            raise Stale("There is no file.")
        return FileResponse(
            open(WORLD.document, "rb"),
            as_attachment=True,
            filename=FILE_NAME,
            headers={"ETag": f'"{account.pk}"', "X-Content-Type-Options": "nosniff"},
        )


def _no_parameters(request: Request, *known: str) -> None:
    if unknown := sorted(request.query_params.keys() - set(known)):
        raise ValidationError({unknown[0]: ["There is no such parameter."]})
