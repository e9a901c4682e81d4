"""Numbers that new records get by themselves, such as a case's: `CAS-{DATETIMEUTC:yyMMdd}-{RANDSTRING:6}`.

The placeholders are Dataverse's. `SEQNUM` is not among them: with a counter, creates would wait for each
other.
"""

from __future__ import annotations

import datetime as dt
import re
import secrets
import string
from typing import Final

_CHARACTERS: Final = string.ascii_uppercase + string.digits
_PLACEHOLDER: Final = re.compile(r"\{(RANDSTRING|DATETIMEUTC):([^{}]+)\}")
# .NET's patterns of dates, as far as numbers are made of them.
_DATE_FORMATS: Final = {"yyyy": "%Y", "yy": "%y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M", "ss": "%S"}
_DATE_PART: Final = re.compile("|".join(_DATE_FORMATS))


def auto_number(pattern: str, now: dt.datetime) -> str:
    """Return a new number by `pattern`. `now` is in UTC."""
    return _PLACEHOLDER.sub(lambda match: _part(match[1], match[2], now), pattern)


def _part(placeholder: str, detail: str, now: dt.datetime) -> str:
    """Return what a placeholder stands for. `detail` is the number of characters, or a pattern of a date."""
    if placeholder == "RANDSTRING":
        return "".join(secrets.choice(_CHARACTERS) for _ in range(int(detail)))
    return now.strftime(_DATE_PART.sub(lambda match: _DATE_FORMATS[match[0]], detail))
