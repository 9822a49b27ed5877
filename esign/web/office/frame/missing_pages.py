"""What the office says about an address that leads nowhere: what was not found, and where to go instead."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from esign.core.errors import NO_DELIVERY, NO_FILE, NO_RECIPIENT, Problem

NOT_FOUND, METHOD_NOT_ALLOWED = 404, 405
NO_PAGE = "There is no page at this address. Check it, or search for what you need."


@dataclass(frozen=True, slots=True)
class MissingPage:
    """What stands on the page: `what` was not found, and a link to `path`, named by where to `go`.

    Both are parts of the keys of their words. `was_there`: it may have been deleted, or belong to another organisation
    or mode.
    """

    what: str
    path: str
    go: str
    was_there: bool = True


# By the beginning of the address; the first that fits counts.
MISSING: Mapping[str, MissingPage] = {
    "/documents/views/": MissingPage("view", "/documents/views", "views"),
    "/documents/": MissingPage("document", "/documents", "documents"),
    "/templates/": MissingPage("template", "/templates", "templates"),
    "/contacts/": MissingPage("contact", "/contacts", "contacts"),
    "/members/": MissingPage("member", "/members", "members"),
    "/settings/tokens/": MissingPage("token", "/settings/tokens", "tokens"),
    "/settings/webhooks/": MissingPage("webhook", "/settings/webhooks", "webhooks"),
    "/settings/outbox/": MissingPage("mail", "/settings/outbox", "outbox"),
    "/settings/events/": MissingPage("event", "/settings/events", "events"),
    "/test/messages/": MissingPage("message", "/test/messages", "messages"),
    "/account/": MissingPage("session", "/account", "account", was_there=False),
}
ELSEWHERE = MissingPage("page", "/documents", "documents", was_there=False)
# Parts of something that is there: the link leads to the whole.
PARTS: Mapping[str, tuple[str, str]] = {
    NO_RECIPIENT: ("recipient", "document"),
    NO_FILE: ("file", "document"),
    NO_DELIVERY: ("delivery", "webhook"),
}


def find_missing_page(path: str, problem: Problem) -> MissingPage:
    """Return what to say about a problem with the status 404 or 405 at this address."""
    near = next((page for begin, page in MISSING.items() if path.startswith(begin)), ELSEWHERE)
    if problem.status == METHOD_NOT_ALLOWED:
        what = "form_only" if "POST" in problem.headers.get("Allow", "") else "no_form"
        return replace(near, what=what, was_there=False)
    if problem.message == NO_PAGE:
        return replace(ELSEWHERE, path=near.path, go=near.go)
    if problem.message in PARTS:
        what, whole = PARTS[problem.message]
        return MissingPage(what, find_whole(path, near), whole)
    return near


def find_whole(path: str, near: MissingPage) -> str:
    """Return the address of what a part belongs to: the list, and one more segment of the address."""
    return f"{near.path}/{path.removeprefix(f'{near.path}/').partition('/')[0]}"
