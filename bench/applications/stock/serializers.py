from __future__ import annotations

from decimal import Decimal
from typing import Any

from rest_framework import serializers

from bench.applications.stock.models import Account, Contact, Option
from bench.applications.surroundings import INDUSTRIES, MONEY_PLACES

MOST_MONEY = Decimal("922337203685477.5807")


class TextField(serializers.CharField):
    """Text and nothing else: DRF's own field takes numbers for text."""

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class StrictModelSerializer(serializers.ModelSerializer):
    """Refuses keys that it does not know, together with the other mistakes."""

    serializer_field_mapping = {
        **serializers.ModelSerializer.serializer_field_mapping,
        serializers.models.CharField: TextField,
    }

    def to_internal_value(self, data: Any) -> Any:
        unknown = set(data) - set(self.fields) if isinstance(data, dict) else set()
        errors = {name: [serializers.ErrorDetail("No such input.", "unknown")] for name in sorted(unknown)}
        try:
            values = super().to_internal_value(data)
        except serializers.ValidationError as error:
            raise serializers.ValidationError({**error.detail, **errors}) from error
        if errors:
            raise serializers.ValidationError(errors)
        return values


class AccountSerializer(StrictModelSerializer):
    revenue = serializers.DecimalField(
        max_digits=19,
        decimal_places=MONEY_PLACES,
        min_value=0,
        max_value=MOST_MONEY,
        required=False,
        allow_null=True,
    )
    industry = serializers.ChoiceField(choices=sorted(INDUSTRIES), required=False, allow_null=True)
    primaryContactId = serializers.PrimaryKeyRelatedField(  # noqa: N815 - the key that callers send
        source="primary_contact", queryset=Contact.objects.all(), required=False, allow_null=True
    )

    class Meta:
        model = Account
        fields = ["name", "phone", "revenue", "industry", "primaryContactId"]


class ListedAccountSerializer(serializers.ModelSerializer):
    class Meta:
        model = Account
        fields = ["id", "name", "phone", "revenue", "industry"]

    revenue = serializers.DecimalField(max_digits=19, decimal_places=MONEY_PLACES)


class ContactSerializer(serializers.ModelSerializer):
    name = serializers.CharField(source="full_name")

    class Meta:
        model = Contact
        fields = ["id", "name"]


class ReadAccountSerializer(ListedAccountSerializer):
    primaryContact = ContactSerializer(source="primary_contact")  # noqa: N815 - the key that callers get
    createdOn = serializers.DateTimeField(source="created_on")  # noqa: N815 - the key that callers get

    class Meta:
        model = Account
        fields = [*ListedAccountSerializer.Meta.fields, "primaryContact", "createdOn"]


class OptionSerializer(serializers.ModelSerializer):
    name = serializers.SerializerMethodField()

    class Meta:
        model = Option
        fields = ["name", "value"]

    def get_name(self, option: Option) -> str:
        labels = {label.lcid: label.label for label in option.labels.all()}
        return labels.get(self.context["lcid"]) or labels[self.context["base"]]
