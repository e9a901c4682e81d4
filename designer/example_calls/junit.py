"""Results as a JUnit report, which pipelines know how to show."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from xml.etree import ElementTree

from designer.example_calls.call_runs import CallResult

# In milliseconds.
_SECOND = 1000
# Characters that no XML document can hold.
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def report(results: Sequence[CallResult]) -> bytes:
    """Return the report as XML in UTF-8, with a suite for each endpoint and a case for each example call."""
    suites = ElementTree.Element("testsuites", {"name": "example calls", **_counts_of_results(results)})
    # The results of an endpoint follow each other, as `groupby` needs them.
    for endpoint, group in groupby(results, lambda result: result.endpoint):
        calls = list(group)
        suite = ElementTree.SubElement(suites, "testsuite", {"name": endpoint, **_counts_of_results(calls)})
        for result in calls:
            case = ElementTree.SubElement(
                suite,
                "testcase",
                classname=endpoint,
                name=_text_for_xml(result.name),
                time=_seconds([result]),
            )
            if result.failed:
                first, *_ = problems = [_text_for_xml(str(problem)) for problem in result.problems]
                failure = ElementTree.SubElement(case, "failure", message=first)
                failure.text = "\n".join(problems)
    ElementTree.indent(suites)
    xml: bytes = ElementTree.tostring(suites, encoding="utf-8", xml_declaration=True)
    return xml + b"\n"


def _counts_of_results(results: Sequence[CallResult]) -> dict[str, str]:
    """Return the counts of a suite as XML attributes. A call that failed is a failure, and never an error."""
    return {
        "tests": str(len(results)),
        "failures": str(sum(result.failed for result in results)),
        "errors": "0",
        "time": _seconds(results),
    }


def _seconds(results: Iterable[CallResult]) -> str:
    """Return how long the calls took together, in seconds with three decimal places."""
    return f"{sum(result.milliseconds for result in results) / _SECOND:.3f}"


def _text_for_xml(text: str) -> str:
    """Return the text with a replacement for each character that no XML document can hold."""
    return _NOT_IN_XML.sub("\ufffd", text)
