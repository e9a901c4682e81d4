"""Two-factor login: everybody's own, with any authenticator app (TOTP)."""

from __future__ import annotations

import base64
from typing import Any

import segno
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django_otp.plugins.otp_totp.models import TOTPDevice

from designer.audit import note
from designer.models import AuditEntry
from designer.studio.pages.base import StudioPage


class TwoFactorPage(StudioPage):
    """Switches two-factor login on and off for the account itself, whatever its rights.

    A device that is not `confirmed` is offered on the page, and asked for by no login.
    """

    title = gettext_lazy("Two-factor login")
    template_name = "designer/pages/two_factor.html"

    def has_permission(self) -> bool:
        return True

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        devices = TOTPDevice.objects.filter(user=self.request.user)
        offered = devices.filter(confirmed=False).first()
        return super().get_context_data(
            **{
                "is_on": devices.filter(confirmed=True).exists(),
                "secret": _secret(offered) if offered else "",
                "picture": _picture(offered) if offered else "",
                **kwargs,
            }
        )

    def post(self, request: HttpRequest) -> HttpResponseBase:
        # Each step returns a problem for the user; the text is empty when the step has succeeded.
        steps = {"begin": self._begin, "confirm": self._confirm, "end": self._end}
        run_step = steps.get(request.POST.get("step", ""))
        if run_step is None:
            return HttpResponseRedirect(reverse("studio:two_factor"))
        with transaction.atomic():
            problem = run_step(request)
        if problem:
            return self.show_again(problems=[problem])
        return HttpResponseRedirect(reverse("studio:two_factor"))

    def _begin(self, request: HttpRequest) -> str:
        """Offer a new device in place of one that was not confirmed, unless two-factor login is on.

        Return an empty text: there is no problem.
        """
        devices = TOTPDevice.objects.filter(user=request.user)
        if not devices.filter(confirmed=True).exists():
            devices.delete()
            TOTPDevice.objects.create(user=request.user, name=request.user.get_username(), confirmed=False)
            note(request, AuditEntry.Action.TWO_FACTOR, detail="off; a device is offered")
        return ""

    def _confirm(self, request: HttpRequest) -> str:
        """Switch two-factor login on, if the code is right. Return what is wrong, else an empty text."""
        device = _locked_device(request, confirmed=False)
        if device is None:
            # Confirmed in another tab, or the form was sent twice: the page shows how things are now.
            return ""
        if not device.verify_token(_code(request)):
            return _("That is not the code that the app shows now. Check the app's clock, and try the next.")
        device.confirmed = True
        device.save()
        note(request, AuditEntry.Action.TWO_FACTOR, detail="off → on")
        messages.success(request, _("From now on the login asks for a code."))
        return ""

    def _end(self, request: HttpRequest) -> str:
        """Switch two-factor login off, if the code is right. Return what is wrong, else an empty text."""
        device = _locked_device(request, confirmed=True)
        if device is None:
            # Switched off in another tab: the page shows how things are now.
            return ""
        if not device.verify_token(_code(request)):
            return _("That is not the code that the app shows now.")
        device.delete()
        note(request, AuditEntry.Action.TWO_FACTOR, detail="on → off")
        messages.success(request, _("The login no longer asks for a code."))
        return ""


def _locked_device(request: HttpRequest, *, confirmed: bool) -> TOTPDevice | None:
    """Return the account's device, locked until the transaction ends; None if there is none.

    Several codes sent at once are checked one after the other: else all of them would be tried before the
    first wrong one makes the next wait.
    """
    return TOTPDevice.objects.select_for_update().filter(user=request.user, confirmed=confirmed).first()


def _code(request: HttpRequest) -> str:
    # Apps show the code in two groups.
    return request.POST.get("code", "").replace(" ", "")


def _secret(device: TOTPDevice) -> str:
    """Return the device's secret in base32, in groups of four characters, for people who type it."""
    text = base64.b32encode(device.bin_key).decode().rstrip("=")
    return " ".join(text[start : start + 4] for start in range(0, len(text), 4))


def _picture(device: TOTPDevice) -> str:
    """Return the QR code for authenticator apps as an SVG image in a data URI."""
    return str(segno.make(device.config_url, error="m").svg_data_uri(scale=5, border=3, light="white"))
