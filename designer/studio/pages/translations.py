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
from designer.studio.navigation.request_overview import overview_for
from designer.studio.pages.base import Crumb, StudioPage
from designer.studio.saving.authors import author_of
from designer.studio.saving.refusal_messages import tell_refused
from designer.studio.saving.refused_as_proposal import open_as_proposal
from designer.studio.saving.undo_offers import say_done
from designer.studio.translated_texts import (
    Share,
    Text,
    share,
    texts_of_endpoint,
    texts_of_module,
)

_PER_PAGE = 100
_SALT = "designer.translations"
_TITLE = gettext_lazy("Translations")


def _offered_languages(used: Collection[int]) -> list[int]:
    """Return the languages (LCIDs) to choose from: the platform's, then others that are in use.

    The platform names its base language first. Here it is the last of the platform's: base texts are most
    likely in it and need no translation.
    """
    try:
        languages = list(known_metadata().languages())
    except MetadataUnavailable:
        languages = []
    ordered = [*languages[1:], *languages[:1]]
    return [*ordered, *sorted(set(used).difference(ordered))]


def _lcid_from(text: str) -> int | None:
    """Return the language (LCID) that `text`, a part of an address, names; None for an empty text.

    Raises Http404 for a text that is not a positive number of at most nine digits.
    """
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) <= 9 and int(text)):
        raise Http404
    return int(text)


@dataclass(frozen=True)
class _OverviewLine:
    """A line of the list: an endpoint or a module, with what it is called and the page of its texts.

    `shares` has pairs of a language (LCID) and the share of the texts that is translated to it.
    """

    name: str
    link: str
    shares: Sequence[tuple[int, Share]]

    @property
    def is_incomplete(self) -> bool:
        """Whether a translation is missing in any of the languages."""
        return any(not share_of_texts.is_whole for _lcid, share_of_texts in self.shares)


class TranslationsPage(StudioPage):
    """Shows which texts lack a translation, by language."""

    title = _TITLE
    permission_required = "designer.view_endpoint"
    template_name = "designer/pages/translations.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        configuration = overview_for(self.request).configuration
        query = self.request.GET
        chosen, used = _lcid_from(query.get("language", "")), configuration.languages()
        languages = sorted(used) if chosen is None else [chosen]
        module, lacking = query.get("module", ""), "lacking" in query
        lines = _lines(configuration, languages, module)
        shown = [line for line in lines if line.is_incomplete] if lacking else lines
        return super().get_context_data(
            **kwargs,
            page=Paginator(shown, _PER_PAGE).get_page(query.get("page")),
            languages=[(lcid, language_name(lcid)) for lcid in languages],
            offered=[(lcid, language_name(lcid)) for lcid in _offered_languages(used)],
            chosen=chosen,
            modules=configuration.modules,
            module=module,
            lacking=lacking,
            without=sum(line.is_incomplete for line in lines),
        )


def _lines(configuration: Configuration, languages: Sequence[int], module: str) -> list[_OverviewLine]:
    """Return a line for each module, then for each endpoint in the order of paths.

    `module` is the segment of the only module to list, with its endpoints; empty: all of them. An endpoint
    that cannot be read is left out.
    """

    def line(name: str, link: str, definition: Translated) -> _OverviewLine:
        return _OverviewLine(name, link, [(lcid, share(definition, lcid)) for lcid in languages])

    ids = configuration.ids
    lines = [
        line(owner.title or owner.segment, reverse("studio:translations_of_module", args=[id]), owner)
        for id, owner in (ids.modules.items() if ids is not None else ())
        if module in ("", owner.segment)
    ]
    by_path = sorted(configuration.endpoints.items(), key=lambda item: (item[1].path, item[1].methods))
    return lines + [
        line(
            owner.methods_and_path,
            reverse("studio:translations_of", args=[id]),
            owner.definition,
        )
        for id, owner in by_path
        if owner.problem is None and module in ("", owner.definition.module)
    ]


@dataclass
class _Field:
    """A text, and the `value` that its field on the page shows, with an `error` or none (empty).

    `theirs` is what somebody else has saved meanwhile; None: nothing. `is_start`: the value is a text of the
    platform, and not saved.
    """

    text: Text
    value: str
    error: str = ""
    theirs: str | None = None
    is_start: bool = False

    @property
    def is_open(self) -> bool:
        """Whether the field is shown at once: it has a text or an error. Others are folded away."""
        return bool(self.text.base or self.value or self.error or self.theirs is not None)

    @property
    def rows(self) -> int:
        """The height of the field in lines. Only texts without a bound have several lines."""
        return 1 if self.text.longest is not None else min(6, 2 + self.text.base.count("\n"))


class TextsPage(StudioPage):
    """The texts of one endpoint in one language, beside its base texts, in a form."""

    permission_required = "designer.view_endpoint"
    change_permission = "designer.change_endpoint"
    template_name = "designer/pages/texts.html"
    # Both are set by `load_texts`, as the title is.
    row: Endpoint | Module
    link: str

    def crumbs(self) -> Sequence[Crumb]:
        return [Crumb(_TITLE, reverse("studio:translations"))]

    def load_texts(self) -> list[Text]:
        """Read the row that the address names, and return its texts. Sets `row`, `title` and `link`."""
        row = self.row = get_object_or_404(Endpoint, pk=self.kwargs["pk"])
        self.title = row.methods_and_path
        self.link = reverse("admin:designer_endpoint_change", args=[row.pk])
        return texts_of_endpoint(row, _attributes_by_input(row.pk))

    @property
    def lcid(self) -> int:
        """Return the language (LCID) in the address; else the lowest in use, else the platform's first one.

        English is taken only if there is no other: most base texts are in it.
        """
        lcid = _lcid_from(self.request.GET.get("language", ""))
        if lcid is not None:
            return lcid
        used = latest().languages()
        return min(used - {ENGLISH}, default=None) or next(iter(_offered_languages(used)), ENGLISH)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        lcid = self.lcid
        fields: list[_Field] = kwargs.pop("fields", None) or self._fields(self.load_texts(), lcid)
        offered = _offered_languages(latest().languages())
        return super().get_context_data(
            **kwargs,
            fields=[field for field in fields if field.is_open],
            folded=[field for field in fields if not field.is_open],
            # Signed: what comes back decides which changes of others are overwritten.
            opened=signing.dumps(
                {f.text.place: _stored_texts(f.text, lcid) for f in fields}, salt=_SALT, compress=True
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
        """Return a field for each text, with the stored translation.

        With `start` in the address, empty fields get the platform's own texts for the same thing.
        """
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
        try:
            with recording(author_of(request, note=_("Translations"))) as recorded:
                # Read while others who save wait: what is compared and what is saved are the same.
                fields = _fields_as_sent(self.load_texts(), lcid, request.POST)
                is_refused = any(field.error or field.theirs is not None for field in fields)
                if not is_refused:
                    _save_changed(fields, lcid)
        except ChangeRefused as refused:
            if redirect := open_as_proposal(request, refused):
                return redirect
            tell_refused(request, refused)
            # The fields have put the refused texts into their rows: read them from the database again.
            return self.show_again(fields=_fields_as_sent(self.load_texts(), lcid, request.POST))
        if is_refused:
            return self.show_again(fields=fields)
        note(request, AuditEntry.Action.CHANGE, self.row, f"translations: {lcid}")
        details = {"language": language_name(lcid), "object": self.title}
        say_done(request, _("%(language)s texts of %(object)s saved.") % details, recorded.version)
        return HttpResponseRedirect(f"{request.path}?language={lcid}")


class ModuleTextsPage(TextsPage):
    """The texts of one module in one language, beside its base texts, in a form."""

    permission_required = "designer.view_module"
    change_permission = "designer.change_module"

    def load_texts(self) -> list[Text]:
        row = self.row = get_object_or_404(Module, pk=self.kwargs["pk"])
        self.title = _("Module %(name)s") % {"name": row}
        self.link = reverse("admin:designer_module_change", args=[row.pk])
        return texts_of_module(row)


def _stored_texts(text: Text, lcid: int) -> list[str]:
    """Return the base text and the translation, as they are stored now.

    The page sends both back with its form. Changes that others have made meanwhile are noticed by that.
    """
    return [text.base, text.in_language(lcid)]


def _fields_as_sent(texts: Iterable[Text], lcid: int, data: Mapping[str, str]) -> list[_Field]:
    """Return a field for each text, as the form sent it (`data`), with what is wrong with it.

    `opened` in `data` has the texts with which the page was opened. A text that the user did not change gets
    the stored value, which somebody else may have changed.
    """
    try:
        opened_texts: Mapping[str, list[str]] = signing.loads(data.get("opened", ""), salt=_SALT)
    except signing.BadSignature:
        # Nothing is known of when the page was opened. The form counts as opened with what is stored now.
        opened_texts = {}
    fields = []
    for text in texts:
        opened_base, opened_text = opened_texts.get(text.place, _stored_texts(text, lcid))
        # Browsers end lines with CR and LF. A text that was not sent, as for a new input, is not changed.
        # Not every database can store a NUL character.
        value = data.get(text.place, opened_text).replace("\r\n", "\n").replace("\0", "").strip()
        if value == opened_text.strip():
            fields.append(_Field(text, text.in_language(lcid)))
        else:
            fields.append(_changed_field(text, lcid, value, opened_base, opened_text))
    return fields


def _save_changed(fields: Iterable[_Field], lcid: int) -> None:
    """Save the texts that differ from the stored ones."""
    changed = [field for field in fields if field.value != field.text.in_language(lcid)]
    for field in changed:
        field.text.put(lcid, field.value)
    # Many texts are of one row, which is saved once.
    for row in {id(field.text.row): field.text.row for field in changed}.values():
        row.save(update_fields=["translations"])


def _changed_field(text: Text, lcid: int, value: str, opened_base: str, opened_text: str) -> _Field:
    """Return the field of a text that the user changed to `value`, with what is wrong with it.

    `opened_base` and `opened_text` are the base text and the translation as the page was opened. The page
    that shows the error has the texts of now: if they stay, the next save stores `value`.
    """
    field, now = _Field(text, value), text.in_language(lcid)
    if now not in (opened_text, value):
        field.theirs = now
    if text.longest is not None and len(value) > text.longest:
        field.error = _("The text has %(length)s characters; at most %(longest)s are possible.") % {
            "length": len(value),
            "longest": text.longest,
        }
    elif field.theirs is not None:
        field.error = _(
            "Somebody else changed this text since you opened the page. Save again to keep yours."
        )
    elif text.base != opened_base and value:
        field.error = _("The base text was changed since you opened the page. Look at it, then save again.")
    return field


def _attributes_by_input(id: int) -> Mapping[str, Attribute]:
    """Return the attributes that the inputs of the endpoint with row id `id` are bound to, by input name.

    There are none for an endpoint that cannot be read, and while the platform cannot be asked.
    """
    configuration = latest()
    endpoint = configuration.endpoints.get(id)
    if endpoint is None or endpoint.problem is not None:
        return {}
    subject = EndpointSubject(id, endpoint, Surroundings(configuration, known_metadata()))
    try:
        attributes = {
            definition.name: subject.attribute_limiting(definition.name) for definition in subject.inputs
        }
    except MetadataUnavailable:
        return {}
    return {name: attribute for name, attribute in attributes.items() if attribute is not None}
