"""Addresses of the studio's own pages, under the admin's."""

from __future__ import annotations

from django.contrib import admin
from django.urls import URLPattern, path
from django.views.i18n import set_language

from designer.studio.identity import caller_rights_page, token_explanation_page
from designer.studio.login import change_own_password
from designer.studio.pages import (
    attribute_pages,
    audit_log,
    export_page,
    expose_page,
    import_page,
    matrix,
    metadata_page,
    new_query,
    palette,
    platform,
    platform_budget,
    platform_check_page,
    proposal_pages,
    proposal_try_page,
    protection_page,
    records,
    release_pages,
    role_comparison,
    signing_in,
    translations,
    two_factor,
    undo_page,
    usage,
    versions,
    view_as_page,
)

app_name = "studio"

urlpatterns: list[URLPattern] = [
    path("language/", set_language, name="set_language"),
    path("sign-in/", signing_in.sign_in, name="sign_in"),
    path("sign-in/callback/", signing_in.signed_in, name="signed_in"),
    # At the addresses of the admin's pages, and before them.
    path("login/", signing_in.login, name="login"),
    path("logout/", signing_in.log_out, name="logout"),
    path("password_change/", admin.site.admin_view(change_own_password, cacheable=True), name="own_password"),
    path("versions/", versions.VersionsPage.as_page(), name="versions"),
    path("versions/undo/", undo_page.Undo.as_page(), name="undo"),
    path("versions/<int:pk>/", versions.VersionPage.as_page(), name="version"),
    path("versions/<int:pk>/restore/", versions.RestoreVersion.as_page(), name="restore_version"),
    path("releases/", release_pages.ReleasesPage.as_page(), name="releases"),
    path("releases/new/", release_pages.NewReleasePage.as_page(), name="new_release"),
    path("releases/<int:pk>/", release_pages.ReleasePage.as_page(), name="release"),
    path("releases/<int:pk>/restore/", release_pages.RestoreRelease.as_page(), name="restore_release"),
    path("releases/<int:pk>/document/", release_pages.ReleaseDocument.as_page(), name="release_document"),
    path("proposals/", proposal_pages.ProposalsPage.as_page(), name="proposals"),
    path("proposals/new/", proposal_pages.NewProposalPage.as_page(), name="new_proposal"),
    path("proposals/<int:pk>/", proposal_pages.ProposalPage.as_page(), name="proposal"),
    path("proposals/<int:pk>/document/", proposal_pages.ProposalDocument.as_page(), name="proposal_document"),
    path("proposals/<int:pk>/try/", proposal_try_page.TryProposed.as_page(), name="try_proposed"),
    path("protection/", protection_page.ProtectionPage.as_page(), name="protection"),
    path("expose/", expose_page.ExposePage.as_page(), name="expose"),
    path("export/", export_page.ExportPage.as_page(), name="export"),
    path("export/document/", export_page.ExportedDocument.as_page(), name="export_document"),
    path("import/", import_page.ImportPage.as_page(), name="import"),
    path("matrix/", matrix.MatrixPage.as_page(), name="matrix"),
    path("matrix/matrix.csv", matrix.MatrixFile.as_page(), name="matrix_csv"),
    path("caller-rights/", caller_rights_page.CallerRightsPage.as_page(), name="caller_rights"),
    path("compare-roles/", role_comparison.CompareRolesPage.as_page(), name="compare_roles"),
    path(
        "compare-roles/differences.csv",
        role_comparison.RoleDifferencesFile.as_page(),
        name="compare_roles_csv",
    ),
    path("view-as/", view_as_page.ViewAsPage.as_page(), name="view_as"),
    path("view-as/openapi.json", view_as_page.OpenApiDocument.as_page(), name="view_as_document"),
    path("view-as/schema.json", view_as_page.SchemaDocument.as_page(), name="view_as_schema"),
    path("attributes/", attribute_pages.AttributesPage.as_page(), name="attributes"),
    path("attributes/one/", attribute_pages.AttributePage.as_page(), name="attribute"),
    path("metadata/", metadata_page.MetadataForScripts.as_page(), name="metadata"),
    path("metadata/views/", metadata_page.ViewsForScripts.as_page(), name="views"),
    path("queries/new/", new_query.NewQueryPage.as_page(), name="new_query"),
    path("queries/words/", new_query.QueryForScripts.as_page(), name="query_words"),
    path("records/", records.RecordsByName.as_page(), name="records"),
    path("translations/", translations.TranslationsPage.as_page(), name="translations"),
    path("translations/<int:pk>/", translations.TextsPage.as_page(), name="translations_of"),
    path(
        "translations/modules/<int:pk>/",
        translations.ModuleTextsPage.as_page(),
        name="translations_of_module",
    ),
    path("usage/", usage.UsagePage.as_page(), name="usage"),
    path("two-factor/", two_factor.TwoFactorPage.as_page(), name="two_factor"),
    path("audit/", audit_log.AuditPage.as_page(), name="audit"),
    path("explain-token/", token_explanation_page.ExplainTokenPage.as_page(), name="explain_token"),
    path("palette/", palette.PaletteEntries.as_page(), name="palette"),
    # At the address of the search that belongs to the look, and before it: the palette is the studio's.
    path("search/", palette.no_search),
    path("platform/", platform.PlatformState.as_page(), name="platform"),
    path("platform/budget/", platform_budget.PlatformBudgetPage.as_page(), name="platform_budget"),
    path("platform/check/", platform_check_page.PlatformCheckPage.as_page(), name="check_platform"),
    path("platform/refresh/", platform.RefreshMetadata.as_page(), name="refresh_metadata"),
    path("platform/accept/", platform.AcceptMetadata.as_page(), name="accept_metadata"),
]
