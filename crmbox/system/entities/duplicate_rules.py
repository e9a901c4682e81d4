"""Duplicate detection rules, and their conditions, all of which a duplicate meets."""

from __future__ import annotations

from crmbox.metadata import Extras
from crmbox.records.duplicates import RuleStatus, Sameness
from crmbox.system.entities.base import SystemEntity, name_attribute
from crmbox.system.labels import label
from crmclient.metadata import (
    Attribute,
    AttributeType,
    Cascade,
    Entity,
    Option,
    OptionSet,
    Relationship,
    RequiredLevel,
)

_STATUS = label("Status Reason", "Statusgrund", "سبب الحالة")
_OPERATOR = label("Operator Code", "Operatorcode", "رمز عامل التشغيل")
_RULE = label("Duplicate Detection Rule", "Duplikaterkennungsregel", "قاعدة اكتشاف التكرار")

DUPLICATE_RULE = SystemEntity(
    Entity(
        "duplicaterule",
        "duplicaterules",
        _RULE,
        label("Duplicate Detection Rules", "Duplikaterkennungsregeln", "قواعد اكتشاف التكرار"),
        primary_id="duplicateruleid",
        primary_name="name",
    ),
    (
        name_attribute(160),
        Attribute(
            "baseentityname",
            AttributeType.STRING,
            label("Base Record Type", "Basisdatensatztyp", "نوع السجل الأساسي"),
            required=RequiredLevel.APPLICATION,
            max_length=64,
        ),
        Attribute(
            "matchingentityname",
            AttributeType.STRING,
            label("Matching Record Type", "Übereinstimmender Datensatztyp", "نوع السجل المطابق"),
            required=RequiredLevel.APPLICATION,
            max_length=64,
        ),
        Attribute(
            "excludeinactiverecords",
            AttributeType.BOOLEAN,
            label(
                "Exclude Inactive Records", "Inaktive Datensätze ausschließen", "استبعاد السجلات غير النشطة"
            ),
        ),
        Attribute(
            "statuscode",
            AttributeType.PICKLIST,
            _STATUS,
            option_set="duplicaterule_statuscode",
            options=OptionSet(
                "duplicaterule_statuscode",
                _STATUS,
                (
                    Option(RuleStatus.UNPUBLISHED, label("Unpublished", "Unveröffentlicht", "غير منشور")),
                    Option(RuleStatus.PUBLISHING, label("Publishing", "Wird veröffentlicht", "قيد النشر")),
                    Option(RuleStatus.PUBLISHED, label("Published", "Veröffentlicht", "منشور")),
                ),
                entity="duplicaterule",
            ),
        ),
    ),
    extras=Extras(defaults={"statuscode": RuleStatus.UNPUBLISHED.value, "excludeinactiverecords": False}),
)

DUPLICATE_RULE_CONDITION = SystemEntity(
    Entity(
        "duplicaterulecondition",
        "duplicateruleconditions",
        label("Duplicate Rule Condition", "Duplikatregelbedingung", "شرط قاعدة التكرار"),
        label("Duplicate Rule Conditions", "Duplikatregelbedingungen", "شروط قاعدة التكرار"),
        primary_id="duplicateruleconditionid",
        primary_name="baseattributename",
    ),
    (
        Attribute(
            "baseattributename",
            AttributeType.STRING,
            label("Base Record Field", "Feld des Basisdatensatzes", "حقل السجل الأساسي"),
            required=RequiredLevel.APPLICATION,
            max_length=50,
            is_primary_name=True,
        ),
        Attribute(
            "matchingattributename",
            AttributeType.STRING,
            label("Matching Record Field", "Feld des übereinstimmenden Datensatzes", "حقل السجل المطابق"),
            required=RequiredLevel.APPLICATION,
            max_length=50,
        ),
        Attribute(
            "operatorcode",
            AttributeType.PICKLIST,
            _OPERATOR,
            option_set="duplicaterulecondition_operatorcode",
            options=OptionSet(
                "duplicaterulecondition_operatorcode",
                _OPERATOR,
                (
                    Option(Sameness.WHOLE, label("Exact Match", "Genaue Übereinstimmung", "تطابق تام")),
                    Option(
                        Sameness.FIRST_CHARACTERS,
                        label("Same First Characters", "Gleiche erste Zeichen", "نفس الأحرف الأولى"),
                    ),
                    Option(
                        Sameness.LAST_CHARACTERS,
                        label("Same Last Characters", "Gleiche letzte Zeichen", "نفس الأحرف الأخيرة"),
                    ),
                ),
                entity="duplicaterulecondition",
            ),
        ),
        Attribute(
            "operatorparam",
            AttributeType.INTEGER,
            label("Number of Characters", "Anzahl der Zeichen", "عدد الأحرف"),
        ),
        Attribute(
            "regardingobjectid",
            AttributeType.LOOKUP,
            _RULE,
            required=RequiredLevel.APPLICATION,
            targets=("duplicaterule",),
        ),
    ),
    (
        Relationship(
            "DuplicateRule_DuplicateRuleConditions",
            "duplicaterule",
            "duplicaterulecondition",
            "regardingobjectid",
            on_delete=Cascade.DELETE,
        ),
    ),
    extras=Extras(defaults={"operatorcode": Sameness.WHOLE.value}),
)
