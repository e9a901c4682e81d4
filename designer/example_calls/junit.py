"""Results as a JUnit report, which pipelines know how to show."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from xml.etree import ElementTree

from designer.example_calls.call_runs import CallResult

_SECOND = 1000
# Characters that no XML document can hold.
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def report(results: Sequence[CallResult]) -> bytes:
    """Return the report as XML in UTF-8, with a suite for each endpoint and a case for each example call."""
    suites = ElementTree.Element("testsuites", {"name": "example calls", **_counts(results)})
    for endpoint, group in groupby(results, lambda result: result.endpoint):
        calls = list(group)
        suite = ElementTree.SubElement(suites, "testsuite", {"name": endpoint, **_counts(calls)})
        for result in calls:
            case = ElementTree.SubElement(
                suite, "testcase", classname=endpoint, name=_plain(result.name), time=_seconds([result])
            )
            if result.failed:
                first, *_ = problems = [_plain(str(problem)) for problem in result.problems]
                failure = ElementTree.SubElement(case, "failure", message=first)
                failure.text = "\n".join(problems)
    ElementTree.indent(suites)
    xml: bytes = ElementTree.tostring(suites, encoding="utf-8", xml_declaration=True)
    return xml + b"\n"


def _counts(results: Sequence[CallResult]) -> dict[str, str]:
    return {
        "tests": str(len(results)),
        "failures": str(sum(result.failed for result in results)),
        "errors": "0",
        "time": _seconds(results),
    }


def _seconds(results: Iterable[CallResult]) -> str:
    return f"{sum(result.milliseconds for result in results) / _SECOND:.3f}"


def _plain(text: str) -> str:
    return _NOT_IN_XML.sub("\ufffd", text)
