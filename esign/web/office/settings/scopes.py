"""The scopes of API keys that the form offers, and the combinations that most programs need."""

from collections.abc import Mapping

from esign.core.people.api_key import Scope

OFFERED = tuple(scope for scope in Scope if scope is not Scope.ALL)
CHOSEN = "some"
PRESETS: Mapping[str, frozenset[Scope]] = {
    "all": frozenset({Scope.ALL}),
    "send": frozenset(
        {Scope.DOCUMENTS_READ, Scope.DOCUMENTS_WRITE, Scope.DOCUMENTS_SEND, Scope.TEMPLATES_READ}
    ),
    "read": frozenset({Scope.DOCUMENTS_READ, Scope.TEMPLATES_READ}),
}


def find_preset(scopes: frozenset[Scope]) -> str | None:
    """Return the name of the preset with exactly these scopes, or None."""
    return next((name for name, given in PRESETS.items() if given == scopes), None)
