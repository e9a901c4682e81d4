"""Where a new attribute is stored: its physical columns, chosen once and kept in its definition."""

from __future__ import annotations

from dataclasses import dataclass, field
from dataclasses import replace as changed

from crmbox.engine.codecs import codec_for
from crmbox.engine.definitions import AttributeDefinition, FileFact, SpareColumn
from crmbox.engine.dialects.base import Dialect, Storage
from crmbox.engine.names import KEY_SUFFIX, TARGET_SUFFIX, physical
from crmclient.metadata import Attribute, AttributeType

_WITH_KEY = frozenset({AttributeType.STRING, AttributeType.MEMO})
DEFAULT_LENGTHS = {AttributeType.STRING: 100, AttributeType.MEMO: 2000}


@dataclass(frozen=True, slots=True)
class Extras:
    """The store's own settings of attributes, by logical name, and the `schema_name` of the entity.

    For images among `thumbnails`, only a thumbnail is stored.
    """

    joined: dict[str, tuple[str, ...]] = field(default_factory=dict)
    defaults: dict[str, bool | int] = field(default_factory=dict)
    file_facts: dict[str, FileFact] = field(default_factory=dict)
    schema_names: dict[str, str] = field(default_factory=dict)
    schema_name: str | None = None
    thumbnails: frozenset[str] = frozenset()
    auto_numbers: dict[str, str] = field(default_factory=dict)


NO_EXTRAS = Extras()


class Placing:
    """The columns of one table, while attributes are added to it.

    `taken` are the names in use; `spare` are the columns that removed attributes have left.
    """

    def __init__(self, dialect: Dialect, taken: set[str], spare: tuple[SpareColumn, ...] = ()) -> None:
        self._dialect = dialect
        self._taken = set(taken)
        self.spare = list(spare)

    def place(self, attribute: Attribute, extras: Extras) -> AttributeDefinition:
        """Return the definition of a new attribute, with the names of its columns.

        These are its value, for text the folded key that is compared and sorted by, and for a lookup with
        several targets the entity that it points at. A party list has no column ("").
        """
        name = attribute.logical_name
        if attribute.max_length is None and attribute.type in DEFAULT_LENGTHS:
            attribute = changed(attribute, max_length=DEFAULT_LENGTHS[attribute.type])
        if attribute.type.holds_parties:
            return AttributeDefinition(attribute, "", schema_name=extras.schema_names.get(name))
        column = self._column(name, codec_for(attribute, self._dialect.name).storage)
        return AttributeDefinition(
            attribute,
            column,
            key=self._column(column, Storage.KEY, KEY_SUFFIX) if attribute.type in _WITH_KEY else None,
            target=self.target_of(column) if is_polymorphic(attribute) else None,
            joined_from=extras.joined.get(name, ()),
            file_fact=extras.file_facts.get(name),
            default=extras.defaults.get(name),
            schema_name=extras.schema_names.get(name),
            full_image=name not in extras.thumbnails,
            auto_number=extras.auto_numbers.get(name),
        )

    def target_of(self, column: str) -> str:
        """Return the name of the column with the entity that the lookup in `column` points at."""
        return self._column(column, Storage.TEXT, TARGET_SUFFIX)

    def _column(self, base: str, storage: Storage, suffix: str = "") -> str:
        """Return the name of a column: one of the same storage that a removed attribute has left, which is
        taken out of `spare`; else a new one.
        """
        for column in self.spare:
            if column.storage is storage:
                self.spare.remove(column)
                return column.name
        name = physical(base, self._taken, suffix=suffix)
        self._taken.add(name)
        return name


def columns_of(attribute: Attribute) -> int:
    """Return the number of table columns that an attribute takes."""
    if attribute.type.holds_parties:
        return 0
    return 1 + (attribute.type in _WITH_KEY) + is_polymorphic(attribute)


def is_polymorphic(attribute: Attribute) -> bool:
    """Whether a value must say which entity it points at.

    True also for a lookup without a target, because it will get several.
    """
    return attribute.type.is_reference and len(attribute.targets) != 1
