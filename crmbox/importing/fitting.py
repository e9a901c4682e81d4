"""Definitions as the embedded platform can hold them. What it cannot is left out, or cut down to its size."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace as changed
from typing import Final

from crmbox.engine.definitions import Ownership
from crmbox.engine.dialects.base import Dialect
from crmbox.engine.names import check_logical
from crmbox.engine.tables import INDEXED_LENGTH
from crmbox.importing.found import CannotRead, Found, Note, Verdict, left_out
from crmbox.metadata import common
from crmbox.metadata.checks import LONGEST_MEMO, LONGEST_STRING, PLACES, UNKEYABLE
from crmbox.metadata.placing import DEFAULT_LENGTHS, columns_of
from crmclient.errors import InvalidDefinition
from crmclient.metadata import (
    AlternateKey,
    Attribute,
    AttributeType,
    Entity,
    Option,
    OptionSet,
    RequiredLevel,
)

STATE, STATUS = "statecode", "statuscode"
NAME: Final = re.compile(r"[A-Za-z_]\w{0,199}", re.ASCII)
"""What can stand in a URL as the name of an entity set or relationship."""

_LONGEST: Final = {AttributeType.STRING: LONGEST_STRING, AttributeType.MEMO: LONGEST_MEMO}


def engine_attributes(ownership: Ownership) -> dict[str, Attribute]:
    """The attributes that the platform fills in itself: of a source only their labels are taken."""
    kept = (*common.audit(ownership), common.version()) if ownership is not Ownership.NONE else ()
    return {each.logical_name: each for each in kept}


_OWNER: Final = "ownerid"


def fitted(found: Found, dialect: Dialect, ownership: Ownership) -> Found:
    """The entity without its primary id, which the platform adds, and without states that do not fit.

    Raises CannotRead for an entity whose own names cannot be had.
    """
    _check_names(found)
    notes = list(found.notes)
    engine = engine_attributes(ownership)
    kept = [
        _attribute(each, found, engine, notes)
        for each in _named(found, engine, notes)
        if each.logical_name != found.entity.primary_id
    ]
    if not _states_fit({each.logical_name: each for each in kept}):
        kept = [each for each in kept if each.type not in (AttributeType.STATE, AttributeType.STATUS)]
    attributes = {each.logical_name: _with_default_status(each, kept) for each in kept}
    entity = _entity(found.entity, attributes, notes)
    for name in _surplus(entity, attributes, dialect):
        del attributes[name]
        reason = (
            f"The table would have more columns than {dialect.name} takes in one, {dialect.most_columns:,}."
        )
        notes.append(left_out(f"{found.name}.{name}", reason))
    for name, attribute in attributes.items():
        attributes[name] = changed(
            attribute, is_primary_id=False, is_primary_name=name == entity.primary_name
        )
    return changed(
        found,
        entity=entity,
        attributes=tuple(attributes.values()),
        has_states=any(each.type is AttributeType.STATE for each in found.attributes),
        relationships=tuple(each for each in found.relationships if each.referencing_attribute not in engine),
        option_sets=tuple(_option_set(each, notes) for each in found.option_sets),
        defaults={
            name: value
            for name, value in found.defaults.items()
            if _is_default(value, attributes.get(name), found)
        },
        notes=tuple(notes),
    )


def fitted_option_set(option_set: OptionSet, notes: list[Note]) -> OptionSet:
    """A global option set with each of its values once."""
    return _option_set(option_set, notes)


def _check_names(found: Found) -> None:
    """Names that stand in URLs and name tables. Raises CannotRead."""
    for name in (found.name, found.entity.entity_set):
        if not NAME.fullmatch(name):
            raise CannotRead(f"It has {name!r} for a name, which cannot stand in a URL.")
    try:
        check_logical(found.name)
        check_logical(found.entity.primary_id)
    except InvalidDefinition as error:
        raise CannotRead(str(error)) from None
    if found.entity.primary_id in engine_attributes(Ownership.USER):
        raise CannotRead(f"Its id is called {found.entity.primary_id}, which the platform fills in itself.")


def _named(found: Found, engine: Mapping[str, Attribute], notes: list[Note]) -> Iterator[Attribute]:
    """The attributes whose names can be had, each once."""
    names: set[str] = set()
    for each in found.attributes:
        name = each.logical_name
        try:
            check_logical(name)
        except InvalidDefinition as error:
            notes.append(left_out(f"{found.name}.{name}", str(error)))
            continue
        if name == _OWNER and name not in engine:
            reason = "The platform keeps a record's owner under this name, and these records have none."
            notes.append(left_out(f"{found.name}.{name}", reason))
            continue
        if name in names:
            notes.append(left_out(f"{found.name}.{name}", "It is described twice. The first is made."))
            continue
        names.add(name)
        yield each


def _attribute(
    attribute: Attribute, found: Found, engine: Mapping[str, Attribute], notes: list[Note]
) -> Attribute:
    """An attribute of the engine's with the source's labels; any other within the platform's limits."""
    name = attribute.logical_name
    if (own := engine.get(name)) is not None:
        return changed(own, label=attribute.label, description=attribute.description)
    subject = f"{found.name}.{name}"
    longest = _LONGEST.get(attribute.type)
    length = attribute.max_length
    if longest is not None:
        length = min(max(length or DEFAULT_LENGTHS[attribute.type], 1), longest)
        if (attribute.max_length or 0) > longest:
            reason = (
                f"Its length goes from {attribute.max_length:,} to {longest:,} characters, the most there is."
            )
            notes.append(Note(Verdict.SHORTENED, subject, reason))
    places = PLACES.get(attribute.type)
    precision = attribute.precision if places is not None else None
    if places is not None and precision is not None:
        precision = min(max(precision, 0), places)
        if precision < (attribute.precision or 0):
            reason = f"It has {precision} decimal places, the most there is, and not {attribute.precision}."
            notes.append(Note(Verdict.SHORTENED, subject, reason))
    limits = attribute.minimum, attribute.maximum
    if limits[0] is not None and limits[1] is not None and limits[0] > limits[1]:
        notes.append(Note(Verdict.CHANGED, subject, "It has no limits: the minimum lies above the maximum."))
        limits = None, None
    return changed(
        attribute,
        max_length=length,
        precision=precision,
        minimum=limits[0],
        maximum=limits[1],
        options=None if attribute.options is None else _option_set(attribute.options, notes, subject),
        option_set=None if attribute.option_set is None else _set_name(attribute.option_set),
        # What Dataverse requires it fills in itself; here nobody would.
        required=RequiredLevel.NONE if attribute.required is RequiredLevel.SYSTEM else attribute.required,
    )


def _option_set(option_set: OptionSet, notes: list[Note], subject: str | None = None) -> OptionSet:
    options: dict[int, Option] = {}
    for each in option_set.options:
        if each.value in options or not -(2**31) <= each.value < 2**31:
            why = "is there twice" if each.value in options else "is no 32-bit number"
            notes.append(left_out(f"{subject or option_set.name}: option {each.value}", f"The value {why}."))
        else:
            options[each.value] = each
    return changed(option_set, name=_set_name(option_set.name), options=tuple(options.values()))


def _set_name(name: str) -> str:
    """An option set's name in the letters that names have here."""
    written = re.sub(r"\W", "_", name.lower(), flags=re.ASCII)[:128]
    return written if not written[:1].isdigit() else f"_{written[:127]}"


def _entity(entity: Entity, attributes: Mapping[str, Attribute], notes: list[Note]) -> Entity:
    named = attributes.get(entity.primary_name or "")
    is_named = named is not None and named.type is AttributeType.STRING
    keys: list[AlternateKey] = []
    for key in entity.keys:
        reason = no_key(key, attributes, keys)
        if reason is None:
            keys.append(key)
        else:
            notes.append(left_out(f"{entity.logical_name}: key {', '.join(key.attributes)}", reason))
    return changed(entity, primary_name=entity.primary_name if is_named else None, keys=tuple(keys))


def no_key(
    key: AlternateKey, attributes: Mapping[str, Attribute], others: Iterable[AlternateKey]
) -> str | None:
    """Why a key cannot be had; None for one that can."""
    if any(each.attributes == key.attributes or each.name == key.name for each in others):
        return "There is another key of the same attributes or name."
    members = [attributes.get(name) for name in key.attributes]
    if not members or any(each is None for each in members) or len(set(key.attributes)) < len(members):
        return "An attribute of the key is not there."
    if any(each.type in UNKEYABLE for each in members if each is not None):
        return "An attribute of the key is of a type that cannot be part of one."
    if sum(each.max_length or 0 for each in members if each is not None) > INDEXED_LENGTH:
        return f"Its texts have more than {INDEXED_LENGTH} characters together."
    return None


def _surplus(entity: Entity, attributes: Mapping[str, Attribute], dialect: Dialect) -> list[str]:
    """The attributes for which the table has no columns left: the last, but for keys, names and lookups."""
    needed = {entity.primary_name, *(name for key in entity.keys for name in key.attributes)}
    order = sorted(
        attributes.values(),
        key=lambda each: (each.logical_name not in needed, not each.type.is_reference),
    )
    room = dialect.most_columns
    surplus = []
    for each in order:
        room -= columns_of(each)
        if room < 0:
            surplus.append(each.logical_name)
    return surplus


def _states_fit(attributes: Mapping[str, Attribute]) -> bool:
    """Whether states and statuses have options, each state with its status: the platform's own otherwise."""
    state, status = attributes.get(STATE), attributes.get(STATUS)
    states = _options(state, AttributeType.STATE)
    statuses = _options(status, AttributeType.STATUS)
    return bool(states) and {each.value for each in states} == {each.state for each in statuses}


def _options(attribute: Attribute | None, kind: AttributeType) -> tuple[Option, ...]:
    if attribute is None or attribute.type is not kind or attribute.options is None:
        return ()
    return attribute.options.options


def _with_default_status(attribute: Attribute, among: Iterable[Attribute]) -> Attribute:
    """A state's options each with the status that a record takes with it: the first, unless it is said."""
    if attribute.type is not AttributeType.STATE or attribute.options is None:
        return attribute
    statuses = next(_options(each, AttributeType.STATUS) for each in among if each.logical_name == STATUS)
    first = {each.state: each.value for each in reversed(statuses)}
    known = {each.value for each in statuses}
    options = tuple(
        each if each.default_status in known else changed(each, default_status=first[each.value])
        for each in attribute.options.options
    )
    return changed(attribute, options=changed(attribute.options, options=options))


def _is_default(value: bool | int, attribute: Attribute | None, found: Found) -> bool:
    if attribute is None:
        return False
    if attribute.type is not AttributeType.PICKLIST:
        return attribute.type is AttributeType.BOOLEAN and isinstance(value, bool)
    own = attribute.options or next(_sets_named(found.option_sets, attribute.option_set), None)
    return own is not None and value in {each.value for each in own.options}


def _sets_named(option_sets: tuple[OptionSet, ...], name: str | None) -> Iterator[OptionSet]:
    return (each for each in option_sets if _set_name(each.name) == name)
