from __future__ import annotations

import hashlib
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from rest_framework import serializers
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from bench.applications.facade import crm
from bench.applications.stock.permissions import IsSales
from bench.applications.stock.records import _no_parameters
from bench.applications.stock.serializers import MOST_MONEY, TextField
from bench.applications.surroundings import INDUSTRIES, MONEY_PLACES

COLUMNS = "name,telephone1,revenue,industrycode,_primarycontactid_value,createdon"
LABEL = "@OData.Community.Display.V1.FormattedValue"


class AccountSerializer(serializers.Serializer):
    """What callers send."""

    name = TextField(max_length=160)
    phone = TextField(max_length=50, required=False, allow_null=True)
    revenue = serializers.DecimalField(19, MONEY_PLACES, min_value=0, max_value=MOST_MONEY, required=False)
    industry = serializers.ChoiceField(sorted(INDUSTRIES), required=False)
    primaryContactId = serializers.UUIDField(required=False)  # noqa: N815 - the key that callers send

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        unknown = set(self.initial_data) - set(self.fields)
        if unknown:
            raise serializers.ValidationError(dict.fromkeys(unknown, "No such input."))
        return attrs


class AccountView(APIView):
    permission_classes = [IsSales]

    def post(self, request: Request) -> Response:
        serializer = AccountSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        values = serializer.validated_data
        body = {
            "name": values["name"],
            "telephone1": values.get("phone"),
            "revenue": float(values["revenue"]) if "revenue" in values else None,
            "industrycode": values.get("industry"),
        }
        if contact := values.get("primaryContactId"):
            body["primarycontactid@odata.bind"] = f"/contacts({contact})"
        made = crm.post("accounts", body)
        return Response({"id": made.headers["OData-EntityId"][-37:-1]})


class AccountRecord(APIView):
    permission_classes = [IsSales]

    def get(self, request: Request, pk: UUID) -> HttpResponse:
        _no_parameters(request)
        answer = crm.get(f"accounts({pk})", **{"$select": COLUMNS})
        record = answer.json(parse_float=Decimal)
        contact = record["_primarycontactid_value"]
        content = JSONRenderer().render(
            {
                "id": record["accountid"],
                "name": record["name"],
                "phone": record["telephone1"],
                "revenue": record["revenue"],
                "industry": record["industrycode"],
                "primaryContact": contact
                and {"id": contact, "name": record["_primarycontactid_value" + LABEL]},
                "createdOn": record["createdon"],
            }
        )
        version = record["@odata.etag"].removeprefix('W/"').removesuffix('"')
        tag = f'"{version}.{hashlib.sha256(content).hexdigest()[:20]}"'
        if request.headers.get("If-None-Match") == tag:
            return HttpResponse(status=304, headers={"ETag": tag})
        return HttpResponse(content, content_type="application/json", headers={"ETag": tag})
