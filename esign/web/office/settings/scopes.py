"""The texts for the scopes of API tokens, and the combinations that most programs need."""

from collections.abc import Mapping

from esign.core.people.api_key import Scope

WORDS: Mapping[Scope, str] = {
    Scope.DOCUMENTS_READ: "See documents, files and events",
    Scope.DOCUMENTS_WRITE: "Create, change and delete documents",
    Scope.DOCUMENTS_SEND: "Send, remind and cancel",
    Scope.DOCUMENTS_LINKS: "Fetch signing links",
    Scope.TEMPLATES_READ: "See templates",
    Scope.TEMPLATES_WRITE: "Create, change and delete templates",
    Scope.WEBHOOKS_READ: "See webhooks and deliveries",
    Scope.WEBHOOKS_WRITE: "Create, change and delete webhooks",
    Scope.ACCOUNT_READ: "See settings and usage",
    Scope.ACCOUNT_ADMIN: "Change settings, members and tokens (live only)",
}

CHOSEN = "some"
PRESETS: Mapping[str, tuple[str, str, frozenset[Scope]]] = {
    "all": (
        "Everything",
        "Documents, templates and webhooks; with live documents also members and settings.",
        frozenset({Scope.ALL}),
    ),
    "send": (
        "Create and send documents",
        "Also from templates, and fetch the sealed files. No webhooks, no settings.",
        frozenset({Scope.DOCUMENTS_READ, Scope.DOCUMENTS_WRITE, Scope.DOCUMENTS_SEND, Scope.TEMPLATES_READ}),
    ),
    "read": (
        "Only look",
        "See documents and templates and fetch files; change nothing.",
        frozenset({Scope.DOCUMENTS_READ, Scope.TEMPLATES_READ}),
    ),
}


def find_preset_title(scopes: frozenset[Scope]) -> str | None:
    """Return the title of the preset with exactly these scopes, or None."""
    return next((title for title, _, given in PRESETS.values() if given == scopes), None)
