"""Pre-conditions: what must be true for the operation to be done, with the consultant's answer where not."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from crmclient.sentences import for_log
from designer.definitions import PreconditionDefinition
from designer.expressions import Expression, ExpressionError
from designer.expressions.members import ENDPOINT_NAMES
from designer.sentences import Sentence
from runtime.http.failures import Misconfigured
from runtime.http.problems import Problem
from runtime.request_context import Exchange
from runtime.values.evaluation import evaluate

logger = logging.getLogger("portico.steps")

PRECONDITION_FAILED = "precondition_failed"
_DEFAULT = "A condition for this is not met."


class Preconditions:
    """The pre-conditions of an endpoint, compiled once.

    Raises Misconfigured for an expression that does not compile.
    """

    def __init__(self, definitions: Sequence[PreconditionDefinition]) -> None:
        self.expressions = tuple(_compile(definition) for definition in definitions)
        self.statuses = frozenset(definition.status for definition in definitions)
        self._checks = tuple(zip(self.expressions, definitions, strict=True))

    def check(self, exchange: Exchange) -> None:
        """Raise the Problem of the first pre-condition that does not hold, if there is one."""
        for expression, definition in self._checks:
            if not _holds(expression, exchange):
                raise Problem(
                    definition.status,
                    PRECONDITION_FAILED,
                    definition.text("message", exchange.lcid) or _DEFAULT,
                )


def _holds(expression: Expression, exchange: Exchange) -> bool:
    """Whether a pre-condition holds. One without a value, such as a comparison with null, does not."""
    try:
        return evaluate(expression, exchange) is True
    except ExpressionError as error:
        logger.warning("the pre-condition %s has no value: %s", expression.text, for_log(error))
        return False


def _compile(definition: PreconditionDefinition) -> Expression:
    """Compile a pre-condition. Raises Misconfigured."""
    try:
        return Expression(definition.expression, ENDPOINT_NAMES)
    except ExpressionError as error:
        raise Misconfigured(
            Sentence(
                "the pre-condition %(expression)s: %(reason)s",
                expression=definition.expression,
                reason=str(error),
            )
        ) from error
