"""What the office says about an address that leads nowhere: what was not found, and where to go instead."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from esign.core.errors import NO_DELIVERY, NO_FILE, NO_RECIPIENT, Problem

NOT_FOUND, METHOD_NOT_ALLOWED = 404, 405
NO_PAGE = "There is no page at this address. Check it, or search for what you need."
FORM_ONLY = "This address belongs to a button and can’t be opened by itself. Nothing was changed."
NO_FORM = "This page takes no form. Nothing was changed."


@dataclass(frozen=True, slots=True)
class MissingPage:
    """What stands on the page: its title, a sentence, and a link with its words.

    `was_there`: it may have been deleted, or belong to another organisation or mode.
    """

    title: str
    sentence: str
    path: str
    words: str
    was_there: bool = True


# By the beginning of the address; the first that fits counts.
MISSING: Mapping[str, MissingPage] = {
    begin: MissingPage(title, sentence, path, words)
    for begin, title, sentence, path, words in (
        (
            "/documents/views/",
            "View not found",
            "There is no saved view with this id.",
            "/documents/views",
            "Go to saved views",
        ),
        (
            "/documents/",
            "Document not found",
            "There is no document with this id.",
            "/documents",
            "Go to documents",
        ),
        (
            "/templates/",
            "Template not found",
            "There is no template with this id.",
            "/templates",
            "Go to templates",
        ),
        (
            "/contacts/",
            "Person not found",
            "There is no person with this id in the address book.",
            "/contacts",
            "Go to the address book",
        ),
        ("/members/", "Member not found", "There is no member with this id.", "/members", "Go to members"),
        (
            "/settings/tokens/",
            "Token not found",
            "There is no API token with this id.",
            "/settings/tokens",
            "Go to API tokens",
        ),
        (
            "/settings/webhooks/",
            "Webhook not found",
            "There is no webhook with this id.",
            "/settings/webhooks",
            "Go to webhooks",
        ),
        (
            "/settings/outbox/",
            "Email not found",
            "There is no email with this id.",
            "/settings/outbox",
            "Go to the outbox",
        ),
        (
            "/settings/events/",
            "Event not found",
            "There is no event with this id. Events leave the list after a while.",
            "/settings/events",
            "Go to events",
        ),
        (
            "/test/messages/",
            "Message not found",
            "There is no message with this id.",
            "/test/messages",
            "Go to test messages",
        ),
    )
} | {
    "/account/": MissingPage(
        "Nothing to sign out",
        "This browser is signed out already.",
        "/account",
        "Go to your account",
        was_there=False,
    )
}
ELSEWHERE = MissingPage("Page not found", NO_PAGE, "/documents", "Go to documents", was_there=False)
# Parts of something that is there: the link leads to the whole.
PARTS: Mapping[str, tuple[str, str]] = {
    NO_RECIPIENT: ("Recipient not found", "Go to the document"),
    NO_FILE: ("File not found", "Go to the document"),
    NO_DELIVERY: ("Delivery not found", "Go to the webhook"),
}


def find_missing_page(path: str, problem: Problem) -> MissingPage:
    """Return what to say about a problem with the status 404 or 405 at this address."""
    near = next((page for begin, page in MISSING.items() if path.startswith(begin)), ELSEWHERE)
    if problem.status == METHOD_NOT_ALLOWED:
        sentence = FORM_ONLY if "POST" in problem.headers.get("Allow", "") else NO_FORM
        return replace(near, title="This address can’t be opened", sentence=sentence, was_there=False)
    if problem.message == NO_PAGE:
        return replace(ELSEWHERE, path=near.path, words=near.words)
    if problem.message in PARTS:
        title, words = PARTS[problem.message]
        return MissingPage(title, problem.message, find_whole(path, near), words)
    return near


def find_whole(path: str, near: MissingPage) -> str:
    """Return the address of what a part belongs to: the list, and one more segment of the address."""
    return f"{near.path}/{path.removeprefix(f'{near.path}/').partition('/')[0]}"
