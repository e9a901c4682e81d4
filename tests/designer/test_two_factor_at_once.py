"""Codes of two-factor login that are sent at the same moment: a wrong one makes the others wait."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.db.models.signals import pre_save
from django.test import Client
from django.urls import reverse
from django_otp.oath import TOTP
from django_otp.plugins.otp_totp.models import TOTPDevice


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("step", "confirmed"), [("confirm", False), ("end", True)])
def test_a_right_code_beside_a_wrong_one_is_refused(step: str, confirmed: bool, settings: Any) -> None:
    """Who tries all codes at once would otherwise find the right one before the first wrong one counts."""
    # The wait after a wrong code, in seconds: longer than this test.
    settings.OTP_TOTP_THROTTLE_FACTOR = 600
    user = User.objects.create_superuser("ada")
    device = TOTPDevice.objects.create(user=user, confirmed=confirmed)
    totp = TOTP(device.bin_key)
    totp.time = time.time()
    right, wrong = (f"{(totp.token() + distance) % 10**6:06d}" for distance in (0, 123_456))
    answers: dict[str, int] = {}

    def send(code: str) -> None:
        client = Client()
        client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
        answers[code] = client.post(reverse("studio:two_factor"), {"step": step, "code": code}).status_code

    def send_elsewhere() -> None:
        try:
            send(right)
        finally:
            connection.close()

    thread = threading.Thread(target=send_elsewhere)

    def send_before_the_failure_is_counted(**_: Any) -> None:
        if not thread.ident:
            thread.start()
            # It is done by then, or waits for the lock.
            thread.join(timeout=2)

    pre_save.connect(send_before_the_failure_is_counted, sender=TOTPDevice)
    try:
        send(wrong)
        thread.join()
    finally:
        pre_save.disconnect(send_before_the_failure_is_counted, sender=TOTPDevice)

    assert answers == {wrong: 422, right: 422}
    assert TOTPDevice.objects.get().confirmed is confirmed
