"""The values of one write as JSON: each checked, wrong ones collected, so that all are reported at once.

What only the platform can know (a missing target, a rule) it says itself. A required value that is missing
is reported here only beside others that are wrong anyway.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Any

from crmclient import value_checks
from crmclient.dataverse.metadata.catalogue import Catalogue
from crmclient.dataverse.metadata.documents import EntityDocument
from crmclient.dataverse.records.encoding import encode
from crmclient.dataverse.records.parties import bodies
from crmclient.errors import (
    InvalidRecord,
    InvalidValue,
    MissingRequired,
    ReadOnlyAttribute,
    UnknownAttribute,
    UnknownTarget,
    WrongType,
)
from crmclient.known_options import known_options
from crmclient.limits import check, wrong_value
from crmclient.metadata import Attribute, Entity, OptionSet, RequiredLevel
from crmclient.parties import collection_of
from crmclient.values import Reference, Values

STATE, STATUS = "statecode", "statuscode"


def payload(
    catalogue: Catalogue,
    entity: Entity,
    values: Values,
    *,
    creating: bool,
    key: Values = MappingProxyType({}),
) -> dict[str, Any]:
    """Return the body of a create or update. Raises InvalidRecord with every problem.

    The values of the `key` of an upsert are in its address, so that none of them is missing.
    """
    writer = _Writer(catalogue, entity.logical_name)
    for name, value in values.items():
        writer.take(name, value, creating=creating)
    if writer.problems:
        # Values that are missing are the platform's to find, but where the write is refused here anyway.
        if creating:
            writer.require({**key, **values})
        raise InvalidRecord(entity.logical_name, writer.problems)
    if writer.has_parties:
        writer.content[collection_of(entity.logical_name)] = writer.parties
    return writer.content


class _Writer:
    """Collects `content`, the JSON of one write, and `problems`, what is wrong with its values."""

    def __init__(self, catalogue: Catalogue, entity: str) -> None:
        self._catalogue = catalogue
        self._entity = entity
        self._document: EntityDocument = catalogue.document(entity)
        self.content: dict[str, Any] = {}
        self.problems: list[InvalidValue] = []
        self.parties: list[dict[str, Any]] = []
        self.has_parties = False

    def take(self, name: str, value: Any, *, creating: bool) -> None:
        """Take one value. A wrong one is noted as a problem."""
        attribute = self._document.attributes.get(name)
        if attribute is None:
            self.problems.append(UnknownAttribute(name, f"{self._entity} has no such attribute."))
        elif not (attribute.creatable if creating else attribute.updatable):
            self.problems.append(ReadOnlyAttribute(name, "The platform fills it in itself."))
        elif attribute.type.holds_parties:
            self.has_parties = True
            self._collect(lambda: self._put_parties(attribute, value), name)
        elif value is None or value in ("", ()):
            self._clear(attribute)
        elif attribute.type.holds_file:
            self.problems.append(WrongType(name, "A file is written by upload."))
        else:
            self._collect(lambda: self._put(attribute, value), name)

    def require(self, values: Values) -> None:
        """Add a problem for every required attribute without a value, unless it has a problem already."""
        failed = {problem.attribute for problem in self.problems}
        for name, attribute in self._document.attributes.items():
            if attribute.is_required and values.get(name) in (None, "", ()) and name not in failed:
                self.problems.append(MissingRequired(name, "A value is required."))

    def _collect(self, put: Callable[[], None], name: str) -> None:
        """Call `put`, and note what it raises as a problem of the attribute `name`."""
        try:
            put()
        except InvalidValue as problem:
            self.problems.append(problem)
        except (TypeError, ValueError) as error:
            self.problems.append(wrong_value(name, error))

    def _clear(self, attribute: Attribute) -> None:
        """Empty an attribute, unless it can never be empty."""
        name = attribute.logical_name
        if attribute.required is RequiredLevel.SYSTEM:
            self.problems.append(MissingRequired(name, "It cannot be empty."))
        elif attribute.type.is_reference:
            # Any of a lookup's navigation properties clears it, whatever it points at.
            target = attribute.targets[0] if attribute.targets else ""
            self.content[f"{self._document.navigation_to(attribute, target)}@odata.bind"] = None
        else:
            self.content[name] = None

    def _put(self, attribute: Attribute, value: Any) -> None:
        """Add a value to the content. A lookup is written under the navigation property to its entity."""
        name = attribute.logical_name
        if attribute.type.is_reference:
            # `check` refuses what is no reference, and so comes before its entity is read.
            check(attribute, value, self._options)
            navigation_property = self._document.navigation_to(attribute, value.entity)
            self.content[f"{navigation_property}@odata.bind"] = self._record_address(attribute, value)
            return
        # Encoding checks the type of other values, which `check` takes for granted.
        encoded = encode(attribute, value)
        check(attribute, value, self._options)
        self.content[name] = encoded

    def _put_parties(self, attribute: Attribute, value: Any) -> None:
        """Add the parties of a list to those of the activity. None is an empty list."""
        parties = () if value is None else value_checks.parties(value)
        check(attribute, parties, self._options)
        self.parties += bodies(self._catalogue, attribute.logical_name, parties)

    def _record_address(self, attribute: Attribute, value: Reference) -> str:
        """Return the address of a record that a lookup points at. Raises UnknownTarget."""
        target = self._catalogue.entities().get(value.entity)
        if target is None:
            raise UnknownTarget(attribute.logical_name, f"There is no entity {value.entity!r}.")
        return f"/{target.entity_set}({encode(attribute, value.id)})"

    def _options(self, attribute: Attribute) -> OptionSet | None:
        """Return the options of a choice; None where only Dataverse knows them."""
        return known_options(attribute, lambda name: self._catalogue.option_sets().get(name))
