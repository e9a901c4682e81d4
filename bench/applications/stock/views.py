from __future__ import annotations

from django.db.models import Prefetch
from rest_framework import status
from rest_framework.exceptions import ValidationError
from rest_framework.generics import CreateAPIView
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer
from rest_framework.views import APIView

from bench.applications.stock.models import Account, Option, OptionLabel
from bench.applications.stock.permissions import IsSales
from bench.applications.stock.serializers import AccountSerializer, OptionSerializer

ENGLISH = 1033


def locale(request: Request) -> int:
    """The `lcid` asked for; no other parameter is known."""
    parameters = {name.lower(): values for name, values in request.query_params.lists()}
    values = parameters.pop("lcid", [str(ENGLISH)])
    if parameters or len(values) > 1:
        raise ValidationError({"lcid": ["Give only lcid, and once."]})
    try:
        return int(values[0])
    except ValueError as error:
        raise ValidationError({"lcid": ["A whole number."]}) from error


class OptionSetView(APIView):
    """Reads the options and their labels from the database."""

    permission_classes = [AllowAny]

    def get(self, request: Request, name: str) -> Response:
        lcid = locale(request)
        labels = OptionLabel.objects.filter(lcid__in=[lcid, ENGLISH])
        options = Option.objects.filter(option_set=name, hidden=False).prefetch_related(
            Prefetch("labels", labels)
        )
        context = {"lcid": lcid, "base": ENGLISH}
        return Response(OptionSerializer(options, many=True, context=context).data)


class OptionSetInMemoryView(APIView):
    """The same, from a dictionary that is read once: an option set that never changes."""

    permission_classes = [AllowAny]
    options: dict[str, list[Option]] = {}

    def get(self, request: Request, name: str) -> Response:
        context = {"lcid": locale(request), "base": ENGLISH}
        if name not in self.options:
            options = Option.objects.filter(option_set=name, hidden=False)
            self.options[name] = list(options.prefetch_related("labels"))
        return Response(OptionSerializer(self.options[name], many=True, context=context).data)


class AccountView(CreateAPIView):
    queryset = Account.objects.all()
    serializer_class = AccountSerializer
    permission_classes = [IsSales]

    def create(self, request: Request) -> Response:
        serializer = self.get_serializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        self.perform_create(serializer)
        return Response({"id": serializer.instance.pk}, status=status.HTTP_200_OK)

    def perform_create(self, serializer: BaseSerializer[Account]) -> None:
        user = self.request.user
        serializer.save(created_by=user, modified_by=user, owner=user)
