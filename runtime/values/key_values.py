"""The value of an alternate key in a path: read by the types of the key's attributes.

A key of one attribute has its value as it stands, whatever it holds. Those of a key of several attributes are
separated by commas, in the key's order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from crmclient import Platform, Reference, Value
from crmclient.known_options import known_options
from crmclient.metadata import Attribute
from crmclient.query import literals
from crmclient.query.ast import Condition, Filter, Operator
from crmclient.text import fits_xml
from designer.configuration import Endpoint
from designer.definitions import InputDefinition
from designer.sentences import Sentence
from designer.types import InputType, InvalidInput, Limits, natural_type
from runtime.http.failures import Misconfigured
from runtime.http.problems import Problem
from runtime.values.query_inputs import split_list

INVALID_KEY = "invalid_key"
PARAMETER = "value"


class KeyInPath:
    """Reads the key in the path by which an endpoint of `entity` finds its record.

    `name` is the name of the alternate key, `attributes` are its attributes in their order. Raises
    Misconfigured.
    """

    def __init__(self, endpoint: Endpoint, entity: str, platform: Platform) -> None:
        key_name = endpoint.definition.settings.key_name
        key = next((key for key in platform.entities()[entity].keys if key.name == key_name), None)
        if key is None:
            raise Misconfigured(
                Sentence("%(entity)s has no alternate key %(key)s", entity=entity, key=repr(key_name))
            )
        self.name, self.attributes = key.name, key.attributes
        attributes = platform.attributes(entity)
        self._readers: dict[str, Callable[[str], Value]] = {}
        self._schemas: list[dict[str, Any]] = []
        for name in key.attributes:
            input_type = natural_type(attributes[name]) if name in attributes else None
            if input_type is None:
                raise Misconfigured(Sentence("%(attribute)s is not part of a key", attribute=name))
            # In a query string a reference is read as a bare id; in a key it stays a reference.
            input_type = input_type if attributes[name].type.is_reference else input_type.as_parameter
            limits = Limits.of(
                InputDefinition(name=PARAMETER),
                attributes[name],
                known_options(attributes[name], platform.option_set),
            )
            self._readers[name] = _reader(input_type, limits, attributes[name])
            self._schemas.append(input_type.schema(limits))

    def read(self, text: str) -> dict[str, Value]:
        r"""Return the values of the key by attribute, read from the decoded path. Raises Problem 400.

        Only the text of a key of several attributes is split at its commas; `\,` and `\\` are a comma and
        a backslash in a value.
        """
        texts = [text] if len(self._readers) == 1 else split_list(text)
        if len(texts) != len(self._readers):
            message = f"The key in the path has {len(self._readers)} values, separated by commas."
            raise Problem(400, INVALID_KEY, message)
        values: dict[str, Value] = {}
        for number, (name, read) in enumerate(self._readers.items(), 1):
            which = f"Value {number} of the key" if len(texts) > 1 else "The key"
            try:
                values[name] = read(texts[number - 1])
            except InvalidInput as error:
                raise Problem(
                    400, INVALID_KEY, f"{which} in the path is not valid. {error.message}"
                ) from None
            except ValueError:
                # The type reads the text, but no record can have such a value: a day before 1753, say.
                raise Problem(400, INVALID_KEY, f"{which} in the path is not valid.") from None
            if values[name] in (None, ""):
                raise Problem(400, INVALID_KEY, f"{which} in the path is empty.")
        return values

    def parameter(self) -> dict[str, Any]:
        """Return the OpenAPI parameter for the key in the path."""
        names = ", ".join(self.attributes)
        if len(self._schemas) == 1:
            return {
                "name": PARAMETER,
                "in": "path",
                "required": True,
                "description": f"The value of {names}, which finds the record. A slash may be sent as %2F.",
                "schema": self._schemas[0],
            }
        return {
            "name": PARAMETER,
            "in": "path",
            "required": True,
            "description": (
                f"The values of {names}, in this order, which find the record. They are separated by commas; "
                r"`\,` is a comma of a value, and `\\` a backslash."
            ),
            "schema": {"type": "string", "minLength": 2 * len(self._schemas) - 1},
        }


def _reader(input_type: InputType, limits: Limits, attribute: Attribute) -> Callable[[str], Value]:
    """Return the function that reads the key's value from text.

    The function raises InvalidInput, and ValueError for a value that no record can have.
    """
    convert, read = input_type.from_text, input_type.compile(limits)

    def value(text: str) -> Value:
        converted = read(convert(text))
        # No platform finds such a text, as no query can ask for it: a record with it would be lost.
        if isinstance(converted, str) and not fits_xml(converted):
            raise ValueError(converted)
        literals.check_fits(converted.id if isinstance(converted, Reference) else converted, attribute)
        return converted

    return value


def same_key(values: Mapping[str, Value]) -> Filter:
    """Return a filter for the record with these values of a key."""
    return Filter(
        tuple(
            Condition(name, Operator.EQ, (value.id if isinstance(value, Reference) else value,))
            for name, value in values.items()
        )
    )
