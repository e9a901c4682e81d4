"""Operators that FetchXML has and that are not supported, and why."""

from __future__ import annotations

from typing import Final

from crmclient.sentences import Sentence

REFUSED: Final = {
    "eq-userlanguage": Sentence("the caller's language is not known here"),
    "eq-roleid": Sentence("security roles are not compared"),
}
