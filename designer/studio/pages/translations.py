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
from designer.history.refused_changes import ChangeRefused
from designer.languages import is_right_to_left, language_name, tag
from designer.loading import latest
from designer.models import AuditEntry, Endpoint, Module
from designer.readiness.metadata import MetadataUnavailable
from designer.readiness.subjects import EndpointSubject, Surroundings
from designer.studio.metadata.page_metadata import known_metadata
from designer.studio.navigation.request_overview import seen_by
from designer.studio.pages.base import Crumb, StudioPage
from designer.studio.saving.authors import author_of
from designer.studio.saving.refused_as_proposal import proposed, tell_refused
from designer.studio.saving.undo_offers import say_done
from designer.studio.translated_texts import Share, Text, share, texts_of_endpoint, texts_of_module

_PER_PAGE = 100
_SALT = "designer.translations"
_TITLE = gettext_lazy("Translations")


def _offered(used: Collection[int]) -> list[int]:
    """The platform's languages and those in use; the base language of the platform is not asked for first."""
    try:
        languages = list(known_metadata().languages())
    except MetadataUnavailable:
        languages = []
    ordered = [*languages[1:], *languages[:1]]
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
    """An item with texts: what it is called, its page, and how much of it is translated to each language
    (LCID).
    """

    called: str
    link: str
    shares: Sequence[tuple[int, Share]]

    @property
    def lacks(self) -> bool:
        return any(not share.is_whole for _lcid, share in self.shares)


class TranslationsPage(StudioPage):
    """Shows which texts lack a translation, by language."""

    title = _TITLE
    permission_required = "designer.view_endpoint"
    template_name = "designer/pages/translations.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        configuration = seen_by(self.request).configuration
        query = self.request.GET
        chosen, used = _lcid(query.get("language", "")), configuration.languages()
        languages = sorted(used) if chosen is None else [chosen]
        module, lacking = query.get("module", ""), "lacking" in query
        lines = _lines(configuration, languages, module)
        shown = [line for line in lines if line.lacks] if lacking else lines
        return super().get_context_data(
            **kwargs,
            page=Paginator(shown, _PER_PAGE).get_page(query.get("page")),
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
    lines = [
        line(owner.title or owner.segment, reverse("studio:translations_of_module", args=[id]), owner)
        for id, owner in (ids.modules.items() if ids is not None else ())
        if module in ("", owner.segment)
    ]
    by_path = sorted(configuration.endpoints.items(), key=lambda item: (item[1].path, item[1].methods))
    return lines + [
        line(
            f"{', '.join(owner.methods)} {owner.path}",
            reverse("studio:translations_of", args=[id]),
            owner.definition,
        )
        for id, owner in by_path
        if owner.problem is None and module in ("", owner.definition.module)
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
        lcid = _lcid(self.request.GET.get("language", ""))
        if lcid is not None:
            return lcid
        used = latest().languages()
        return min(used - {ENGLISH}, default=None) or next(iter(_offered(used)), ENGLISH)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        lcid = self.lcid
        fields: list[_Field] = kwargs.pop("fields", None) or self._fields(self.texts(), lcid)
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
            offered=[(language, language_name(language)) for language in dict.fromkeys((*offered, lcid))],
            starts=sum(bool(f.text.start.get(lcid)) and not f.value for f in fields),
            is_started="start" in self.request.GET,
            link=self.link,
            may_change=self.request.user.has_perm(self.change_permission),
        )

    def _fields(self, texts: Iterable[Text], lcid: int) -> list[_Field]:
        fields = [_Field(text, text.in_language(lcid)) for text in texts]
        if "start" in self.request.GET:
            for field in fields:
                if not field.value and (start := field.text.start.get(lcid)):
                    field.value, field.is_start = start, True
        return fields

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
        if not request.user.has_perm(self.change_permission):
            return self.handle_no_permission()
        lcid = self.lcid
        fields = _sent(self.texts(), lcid, request.POST)
        if any(field.error or field.theirs is not None for field in fields):
            return self.again(fields=fields)
        changed = [field for field in fields if field.value != field.text.in_language(lcid)]
        try:
            with recording(author_of(request, note=_("Translations"))) as recorded:
                for field in changed:
                    field.text.put(lcid, field.value)
                for row in {id(field.text.row): field.text.row for field in changed}.values():
                    row.save(update_fields=["translations"])
        except ChangeRefused as refused:
            if opened := proposed(request, refused):
                return opened
            tell_refused(request, refused)
            # As the database has it again.
            return self.again(fields=_sent(self.texts(), lcid, request.POST))
        note(request, AuditEntry.Action.CHANGE, self.row, f"translations: {lcid}")
        details = {"language": language_name(lcid), "object": self.title}
        say_done(request, _("%(language)s texts of %(object)s saved.") % details, recorded.version)
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
    """Return the base text and the text in the language, to compare with when they are sent."""
    return [text.base, text.in_language(lcid)]


def _sent(texts: Iterable[Text], lcid: int, data: Mapping[str, str]) -> list[_Field]:
    """Return the texts that were sent, with what is wrong with each: too long, or changed by somebody else.

    A text that was not changed on the page is as it is now. `opened` in `data` is what the page was opened
    with.
    """
    try:
        opened_texts: Mapping[str, list[str]] = signing.loads(data.get("opened", ""), salt=_SALT)
    except signing.BadSignature:
        opened_texts = {}
    fields = []
    for text in texts:
        now = text.in_language(lcid)
        opened_base, opened_text = opened_texts.get(text.place, _state(text, lcid))
        value = data.get(text.place, opened_text).replace("\r\n", "\n").strip()
        if value == opened_text.strip():
            fields.append(_Field(text, now))
            continue
        field = _Field(text, value)
        if text.longest is not None and len(value) > text.longest:
            field.error = _("The text has %(length)s characters; at most %(longest)s are possible.") % {
                "length": len(value),
                "longest": text.longest,
            }
        elif now not in (opened_text, value):
            field.theirs = now
            field.error = _(
                "Somebody else changed this text since you opened the page. Save again to keep yours."
            )
        elif text.base != opened_base and value:
            field.error = _(
                "The base text was changed since you opened the page. Look at it, then save again."
            )
        fields.append(field)
    return fields


def _bound(id: int) -> Mapping[str, Attribute]:
    """Return the attributes that an endpoint's inputs are bound to, by the inputs' names."""
    configuration = latest()
    endpoint = configuration.endpoints.get(id)
    if endpoint is None or endpoint.problem is not None:
        return {}
    subject = EndpointSubject(id, endpoint, Surroundings(configuration, known_metadata()))
    try:
        attributes = {definition.name: subject.bound(definition.name) for definition in subject.inputs}
    except MetadataUnavailable:
        return {}
    return {name: attribute for name, attribute in attributes.items() if attribute is not None}
