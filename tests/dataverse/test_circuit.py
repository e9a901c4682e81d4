"""The circuit keeps requests from a platform that fails, and lets one probe after the other try it."""

from __future__ import annotations

import re
from contextlib import ExitStack

import pytest

from crmclient.dataverse.advice import advice_on
from crmclient.dataverse.http.circuit import FAILURES, FIRST_PAUSE, LONGEST_PAUSE, Circuit
from crmclient.dataverse.http.observer import Silent
from crmclient.errors import DeadlineExceeded, Unavailable, Unreachable, UntrustedCertificate
from tests.clocks import SetClock

FAILURE = DeadlineExceeded("There was no answer in time.")


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
def circuit(clock: SetClock) -> Circuit:
    """A circuit that has just opened."""
    opened = Circuit(Silent(), clock)
    for _ in range(FAILURES):
        with opened.enter(clock.now + 20) as passage:
            passage.failed(FAILURE)
    return opened


def is_refused(circuit: Circuit, clock: SetClock) -> bool:
    try:
        with circuit.enter(clock.now + 20) as passage:
            passage.succeeded()
    except Unavailable:
        return True
    return False


def test_what_is_said_of_a_platform_that_is_left_alone_is_about_its_last_failure(clock: SetClock) -> None:
    for failure in (
        FAILURE,
        UntrustedCertificate("The certificate is not trusted."),
        Unreachable("It is away."),
    ):
        circuit = Circuit(Silent(), clock)
        for _ in range(FAILURES):
            with circuit.enter(clock.now + 20) as passage:
                passage.failed(failure)
        with pytest.raises(Unavailable) as raised:
            circuit.refuse()
        assert str(failure) in str(raised.value)
        # Only how long to wait is of the refusal itself.
        settings, refused = (
            set(re.findall(r"[A-Z]+(?:_[A-Z]+)+", advice_on(one))) for one in (failure, raised.value)
        )
        assert refused == settings != set()


def test_a_request_from_before_that_fails_during_a_probe_makes_no_pause_longer(clock: SetClock) -> None:
    circuit = Circuit(Silent(), clock)
    with circuit.enter(clock.now + 60) as early:
        for _ in range(FAILURES):
            with circuit.enter(clock.now + 20) as passage:
                passage.failed(FAILURE)
        clock.now += FIRST_PAUSE
        with circuit.enter(clock.now + 20) as probe:
            early.failed(FAILURE)
            # The probe is still under way: it alone decides.
            assert is_refused(circuit, clock)
            probe.succeeded()
    assert not is_refused(circuit, clock)


def test_a_probe_that_was_not_sent_gives_its_turn_to_the_next_request(
    circuit: Circuit, clock: SetClock
) -> None:
    clock.now += FIRST_PAUSE
    with pytest.raises(ZeroDivisionError), circuit.enter(clock.now + 20):
        raise ZeroDivisionError  # such as: no place, no budget, no token
    assert not is_refused(circuit, clock)


def test_a_probe_that_was_given_up_takes_no_turn_from_the_next(circuit: Circuit, clock: SetClock) -> None:
    clock.now += FIRST_PAUSE
    with ExitStack() as late:
        late.enter_context(circuit.enter(clock.now + 20))
        clock.now += 20
        with circuit.enter(clock.now + 20) as probe:
            late.close()
            assert is_refused(circuit, clock)
            probe.succeeded()
    assert not is_refused(circuit, clock)


def test_each_probe_that_fails_doubles_the_pause_up_to_the_longest(circuit: Circuit, clock: SetClock) -> None:
    pauses = [FIRST_PAUSE, 2 * FIRST_PAUSE, 4 * FIRST_PAUSE, LONGEST_PAUSE, LONGEST_PAUSE]
    for pause in pauses:
        clock.now += pause - 0.01
        with pytest.raises(Unavailable), circuit.enter(clock.now + 20):
            pass
        clock.now += 0.01
        with circuit.enter(clock.now + 20) as probe:
            probe.failed(FAILURE)
