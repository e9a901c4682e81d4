"""Operators that FetchXML has and that are not supported, and why."""

from __future__ import annotations

from typing import Final

from crmclient.sentences import Sentence

_HIERARCHY: Final = Sentence("hierarchies of records are not searched")
_PERIODS: Final = Sentence("how the organisation divides its fiscal years is not known here; use dates")

REFUSED: Final = {
    **dict.fromkeys(
        (
            "above",
            "eq-or-above",
            "under",
            "eq-or-under",
            "not-under",
            "eq-useroruserhierarchy",
            "eq-useroruserhierarchyandteams",
        ),
        _HIERARCHY,
    ),
    **dict.fromkeys(
        (
            "this-fiscal-period",
            "last-fiscal-period",
            "next-fiscal-period",
            "last-x-fiscal-periods",
            "next-x-fiscal-periods",
            "in-fiscal-period",
            "in-fiscal-period-and-year",
            "in-or-before-fiscal-period-and-year",
            "in-or-after-fiscal-period-and-year",
        ),
        _PERIODS,
    ),
    **dict.fromkeys(
        ("last-x-fiscal-years", "next-x-fiscal-years"),
        Sentence("whether the present year counts is not documented; use last-fiscal-year or dates"),
    ),
    "eq-userlanguage": Sentence("the caller's language is not known here"),
    "eq-roleid": Sentence("security roles are not compared"),
}
