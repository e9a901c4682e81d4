"""The portal: articles and option sets for everybody, and each customer's own context, cases and files."""

from __future__ import annotations

import base64
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from rest_framework import serializers
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.permissions import AllowAny, BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from rest_framework_simplejwt.authentication import JWTStatelessUserAuthentication

from bench.applications.facade import crm
from bench.applications.facade.cached import kept, written
from bench.applications.stock.records import _no_parameters
from bench.applications.stock.serializers import TextField
from bench.applications.stock.views import ENGLISH, locale

ARTICLE = "knowledgearticleid,articlepublicnumber,title,description,content,publishon"
PUBLISHED = "statecode eq 3 and isinternal eq false"
CASE = "incidentid,ticketnumber,title,description,prioritycode,statecode,statuscode,createdon,modifiedon"
MOST_ON_A_PAGE = 500


class IsCustomer(BasePermission):
    """Has a contact, which the token names: no account is looked up."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        return bool(request.user.is_authenticated and request.auth and request.auth.get("contact"))


class PublicView(APIView):
    authentication_classes = [JWTStatelessUserAuthentication]
    permission_classes = [AllowAny]


class CustomerView(APIView):
    authentication_classes = [JWTStatelessUserAuthentication]
    permission_classes = [IsCustomer]

    @property
    def contact(self) -> str:
        contact: str = self.request.auth["contact"]
        return contact


class CaseSerializer(serializers.Serializer):
    title = TextField(max_length=200)
    description = TextField(max_length=2000, required=False)
    priority = serializers.ChoiceField([1, 2, 3], default=2)


class TitleSerializer(serializers.Serializer):
    title = TextField(max_length=200)


class PrioritiesView(PublicView):
    def get(self, request: Request) -> Response:
        lcid = locale(request)
        return Response(kept(f"priorities:{lcid}", lambda: _priorities(lcid)))


class ArticleList(PublicView):
    def get(self, request: Request) -> Response:
        _no_parameters(request)
        return Response(kept("articles", _articles))


class ArticleView(PublicView):
    def get(self, request: Request, pk: UUID) -> Response:
        _no_parameters(request)
        return Response(kept(f"article:{pk}", lambda: _article(pk)))


class ContextView(CustomerView):
    def get(self, request: Request) -> Response:
        return Response({"user": kept("context", lambda: _context(self.contact), of=self.contact)})


class MyCases(CustomerView):
    def get(self, request: Request) -> Response:
        _no_parameters(request, "pageSize", "cursor")
        size, cursor = request.query_params.get("pageSize", "50"), request.query_params.get("cursor", "")
        if not size.isdecimal() or not 1 <= int(size) <= MOST_ON_A_PAGE:
            raise ValidationError({"pageSize": ["Between 1 and 500."]})
        page = kept(f"cases:{size}:{cursor}", lambda: _page(self.contact, int(size), cursor), of=self.contact)
        return Response(page)


class NewCase(CustomerView):
    def post(self, request: Request) -> Response:
        serializer = CaseSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        values = serializer.validated_data
        body = {
            "title": values["title"],
            "description": values.get("description"),
            "prioritycode": values["priority"],
            "customerid_contact@odata.bind": f"/contacts({self.contact})",
        }
        try:
            made = crm.post("incidents", body)
        finally:
            written(self.contact)
        return Response({"id": made.headers["OData-EntityId"][-37:-1]})


class CaseView(CustomerView):
    def get(self, request: Request, pk: UUID) -> Response:
        _no_parameters(request)
        return Response(kept(f"case:{pk}", lambda: _case(pk, self.contact), of=self.contact))

    def patch(self, request: Request, pk: UUID) -> Response:
        serializer = TitleSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        _case(pk, self.contact)
        try:
            crm.patch(f"incidents({pk})", {"title": serializer.validated_data["title"]})
        finally:
            written(self.contact)
        return Response(status=204)


class AttachmentView(CustomerView):
    def get(self, request: Request, pk: UUID, note: UUID) -> HttpResponse:
        _no_parameters(request)
        name, kind, content = kept(
            f"file:{pk}:{note}", lambda: _attachment(pk, note, self.contact), of=self.contact
        )
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return HttpResponse(content, content_type=kind, headers=headers)


def _priorities(lcid: int) -> list[dict[str, Any]]:
    option_set = crm.get("GlobalOptionSetDefinitions(Name='new_priority')").json()
    options = []
    for option in option_set["Options"]:
        labels = {text["LanguageCode"]: text["Label"] for text in option["Label"]["LocalizedLabels"]}
        options.append({"name": labels.get(lcid) or labels[ENGLISH], "value": option["Value"]})
    return options


def _articles() -> list[dict[str, Any]]:
    parameters = {"$select": ARTICLE, "$filter": PUBLISHED, "$orderby": "publishon desc", "$top": "200"}
    return [_told(record) for record in crm.get("knowledgearticles", **parameters).json()["value"]]


def _article(key: UUID) -> dict[str, Any]:
    response = crm.get(
        "knowledgearticles",
        **{"$select": ARTICLE, "$filter": f"knowledgearticleid eq {key} and {PUBLISHED}"},
    )
    records = response.json()["value"]
    if not records:
        raise NotFound
    return _told(records[0])


def _told(record: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": record["knowledgearticleid"],
        "number": record["articlepublicnumber"],
        "title": record["title"],
        "summary": record["description"],
        "content": record["content"],
        "publishedOn": record["publishon"],
    }


def _context(contact: str) -> dict[str, Any]:
    record = crm.get(f"contacts({contact})", **{"$select": "contactid,fullname,emailaddress1"}).json()
    return {"id": record["contactid"], "fullName": record["fullname"], "email": record["emailaddress1"]}


def _page(contact: str, size: int, cursor: str) -> dict[str, Any]:
    parameters = {
        "$select": CASE,
        "$filter": f"_customerid_value eq {contact}",
        "$orderby": "createdon desc,incidentid",
    }
    if cursor:
        parameters["$skiptoken"] = cursor
    page = crm.get("incidents", page_size=size, **parameters).json()
    link: str = page.get("@odata.nextLink", "")
    # Still quoted as the CRM has it: callers send it back as it is.
    following = link.partition("skiptoken=")[2].partition("&")[0] or None
    return {"data": [_listed(record) for record in page["value"]], "cursor": following}


def _listed(record: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": record["incidentid"],
        "ticketNumber": record["ticketnumber"],
        "title": record["title"],
        "priority": record["prioritycode"],
        "state": record["statecode"],
        "status": record["statuscode"],
        "createdOn": record["createdon"],
        "modifiedOn": record["modifiedon"],
    }


def _case(key: UUID, contact: str) -> dict[str, Any]:
    record = crm.get(f"incidents({key})", **{"$select": f"{CASE},_customerid_value"}).json()
    if record["_customerid_value"] != contact:
        raise NotFound
    return {**_listed(record), "description": record["description"]}


def _attachment(key: UUID, note: UUID, contact: str) -> tuple[str, str, bytes]:
    _case(key, contact)
    columns = "filename,mimetype,documentbody,_objectid_value"
    record = crm.get(f"annotations({note})", **{"$select": columns}).json()
    if record["_objectid_value"] != str(key):
        raise NotFound
    return record["filename"], record["mimetype"], base64.b64decode(record["documentbody"])
