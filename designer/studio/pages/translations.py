"""Texts of the API in several languages: what lacks, and pages that write them beside the base texts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core import signing
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from crmclient.metadata import ENGLISH, Attribute
from designer.audit import note
from designer.configuration import Configuration
from designer.definitions.translations import Translated
from designer.history.recording import recording
from designer.history.refused import ChangeRefused
from designer.languages import is_right_to_left, language_name, tag
from designer.loading import latest
from designer.models import AuditEntry, Endpoint, Module
from designer.readiness.metadata import MetadataUnavailable
from designer.readiness.subjects import EndpointSubject, Surroundings
from designer.studio.metadata.known import known_metadata
from designer.studio.navigation.seen import seen_by
from designer.studio.pages.base import Crumb, StudioPage
from designer.studio.saving.authors import author_of
from designer.studio.saving.proposing import proposed, tell_refused
from designer.studio.saving.undo_offers import say_done
from designer.studio.translated_texts import Share, Text, share, texts_of_endpoint, texts_of_module

_PER_PAGE = 100
_SALT = "designer.translations"
_TITLE = gettext_lazy("Translations")


def _offered(used: Collection[int]) -> list[int]:
    """The platform's languages and those in use; the base language of the platform is not asked for first."""
    try:
        known = list(known_metadata().languages())
    except MetadataUnavailable:
        known = []
    ordered = [*known[1:], *known[:1]]
    return [*ordered, *sorted(set(used).difference(ordered))]


def _lcid(text: str) -> int | None:
    """Raises Http404 for what is no language."""
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) <= 9 and int(text)):
        raise Http404
    return int(text)


@dataclass(frozen=True)
class _Line:
    """What has texts: `shares` are of the languages that the overview shows, in their order."""

    called: str
    link: str
    shares: Sequence[tuple[int, Share]]

    @property
    def lacks(self) -> bool:
        return any(not known.is_whole for _lcid, known in self.shares)


class TranslationsPage(StudioPage):
    """Which texts lack which language."""

    title = _TITLE
    permission_required = "designer.view_endpoint"
    template_name = "designer/pages/translations.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        configuration = seen_by(self.request).configuration
        asked = self.request.GET
        chosen, used = _lcid(asked.get("language", "")), configuration.languages()
        languages = sorted(used) if chosen is None else [chosen]
        module, lacking = asked.get("module", ""), "lacking" in asked
        lines = _lines(configuration, languages, module)
        shown = [line for line in lines if line.lacks] if lacking else lines
        return super().get_context_data(
            **kwargs,
            page=Paginator(shown, _PER_PAGE).get_page(asked.get("page")),
            languages=[(lcid, language_name(lcid)) for lcid in languages],
            offered=[(lcid, language_name(lcid)) for lcid in _offered(used)],
            chosen=chosen,
            modules=configuration.modules,
            module=module,
            lacking=lacking,
            without=sum(line.lacks for line in lines),
        )


def _lines(configuration: Configuration, languages: Sequence[int], module: str) -> list[_Line]:
    """Modules, and then endpoints, each by its place."""

    def line(called: str, link: str, definition: Translated) -> _Line:
        return _Line(called, link, [(lcid, share(definition, lcid)) for lcid in languages])

    ids = configuration.ids
    found = [
        line(known.title or known.segment, reverse("studio:translations_of_module", args=[id]), known)
        for id, known in (ids.modules.items() if ids is not None else ())
        if module in ("", known.segment)
    ]
    by_path = sorted(configuration.endpoints.items(), key=lambda one: (one[1].path, one[1].methods))
    return found + [
        line(
            f"{', '.join(known.methods)} {known.path}",
            reverse("studio:translations_of", args=[id]),
            known.definition,
        )
        for id, known in by_path
        if known.problem is None and module in ("", known.definition.module)
    ]


@dataclass
class _Field:
    """A text with what stands in its field. `theirs` is what somebody else has saved meanwhile."""

    text: Text
    value: str
    error: str = ""
    theirs: str | None = None
    is_start: bool = False

    @property
    def is_open(self) -> bool:
        """Whether there is anything to translate, or something is said: the others are folded."""
        return bool(self.text.base or self.value or self.error or self.theirs is not None)

    @property
    def rows(self) -> int:
        return 1 if self.text.longest is not None else min(6, 2 + self.text.base.count("\n"))


class TextsPage(StudioPage):
    """The texts of one endpoint in one language, beside those that have none."""

    permission_required = "designer.view_endpoint"
    change_permission = "designer.change_endpoint"
    template_name = "designer/pages/texts.html"
    row: Endpoint | Module
    link: str

    def crumbs(self) -> Sequence[Crumb]:
        return [Crumb(_TITLE, reverse("studio:translations"))]

    def texts(self) -> list[Text]:
        row = self.row = get_object_or_404(Endpoint, pk=self.kwargs["pk"])
        self.title = f"{', '.join(row.methods)} {row.path}"
        self.link = reverse("admin:designer_endpoint_change", args=[row.pk])
        return texts_of_endpoint(row, _bound(row.pk))

    @property
    def lcid(self) -> int:
        """The language that is asked for; else the first that is in use or the platform has."""
        asked = _lcid(self.request.GET.get("language", ""))
        if asked is not None:
            return asked
        used = latest().languages()
        return min(used - {ENGLISH}, default=None) or next(iter(_offered(used)), ENGLISH)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        lcid = self.lcid
        fields: list[_Field] = kwargs.pop("fields", None) or self._opened(self.texts(), lcid)
        offered = _offered(latest().languages())
        return super().get_context_data(
            **kwargs,
            fields=[field for field in fields if field.is_open],
            folded=[field for field in fields if not field.is_open],
            opened=signing.dumps(
                {f.text.place: _state(f.text, lcid) for f in fields}, salt=_SALT, compress=True
            ),
            language=language_name(lcid),
            lcid=lcid,
            tag=tag(lcid),
            direction="rtl" if is_right_to_left(lcid) else "ltr",
            offered=[(known, language_name(known)) for known in dict.fromkeys((*offered, lcid))],
            starts=sum(bool(f.text.start.get(lcid)) and not f.value for f in fields),
            is_started="start" in self.request.GET,
            link=self.link,
            may_change=self.request.user.has_perm(self.change_permission),
        )

    def _opened(self, texts: Iterable[Text], lcid: int) -> list[_Field]:
        found = [_Field(text, text.in_language(lcid)) for text in texts]
        if "start" in self.request.GET:
            for known in found:
                if not known.value and (start := known.text.start.get(lcid)):
                    known.value, known.is_start = start, True
        return found

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
        if not request.user.has_perm(self.change_permission):
            return self.handle_no_permission()
        lcid = self.lcid
        fields = _sent(self.texts(), lcid, request.POST)
        if any(known.error or known.theirs is not None for known in fields):
            return self.again(fields=fields)
        changed = [known for known in fields if known.value != known.text.in_language(lcid)]
        try:
            with recording(author_of(request, note=_("Translations"))) as recorded:
                for known in changed:
                    known.text.put(lcid, known.value)
                for row in {id(known.text.row): known.text.row for known in changed}.values():
                    row.save(update_fields=["translations"])
        except ChangeRefused as refused:
            if opened := proposed(request, refused):
                return opened
            tell_refused(request, refused)
            # As the database has it again.
            return self.again(fields=_sent(self.texts(), lcid, request.POST))
        note(request, AuditEntry.Action.CHANGE, self.row, f"translations: {lcid}")
        said = {"language": language_name(lcid), "object": self.title}
        say_done(request, _("%(language)s texts of %(object)s saved.") % said, recorded.version)
        return HttpResponseRedirect(f"{request.path}?language={lcid}")


class ModuleTextsPage(TextsPage):
    """The same of a module."""

    permission_required = "designer.view_module"
    change_permission = "designer.change_module"

    def texts(self) -> list[Text]:
        row = self.row = get_object_or_404(Module, pk=self.kwargs["pk"])
        self.title = _("Module %(name)s") % {"name": row}
        self.link = reverse("admin:designer_module_change", args=[row.pk])
        return texts_of_module(row)


def _state(text: Text, lcid: int) -> list[str]:
    return [text.base, text.in_language(lcid)]


def _sent(texts: Iterable[Text], lcid: int, data: Mapping[str, str]) -> list[_Field]:
    """What was sent, with what is wrong with it: too long, or changed by somebody else as well.

    A text that was not changed here is as it is now.
    """
    try:
        opened: Mapping[str, list[str]] = signing.loads(data.get("opened", ""), salt=_SALT)
    except signing.BadSignature:
        opened = {}
    found = []
    for text in texts:
        now = text.in_language(lcid)
        was = opened.get(text.place, _state(text, lcid))
        value = data.get(text.place, was[1]).replace("\r\n", "\n").strip()
        if value == was[1].strip():
            found.append(_Field(text, now))
            continue
        known = _Field(text, value)
        if text.longest is not None and len(value) > text.longest:
            known.error = _("The text has %(length)s characters; at most %(longest)s are possible.") % {
                "length": len(value),
                "longest": text.longest,
            }
        elif now not in (was[1], value):
            known.theirs = now
            known.error = _(
                "Somebody else changed this text since you opened the page. Save again to keep yours."
            )
        elif text.base != was[0] and value:
            known.error = _(
                "The base text was changed since you opened the page. Look at it, then save again."
            )
        found.append(known)
    return found


def _bound(id: int) -> Mapping[str, Attribute]:
    """The attributes that an endpoint's inputs are bound to, by the inputs' names."""
    configuration = latest()
    endpoint = configuration.endpoints.get(id)
    if endpoint is None or endpoint.problem is not None:
        return {}
    subject = EndpointSubject(id, endpoint, Surroundings(configuration, known_metadata()))
    try:
        found = {known.name: subject.bound(known.name) for known in subject.inputs}
    except MetadataUnavailable:
        return {}
    return {name: attribute for name, attribute in found.items() if attribute is not None}
