"""The values of the page to sign: the sender, the facts, the people, the pages with their fields, the form."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import quote
from zoneinfo import ZoneInfo

from markupsafe import Markup

from esign.core.actor import Mode
from esign.core.document import consent, estimate, text_fit
from esign.core.document.document import (
    ACTING,
    Document,
    PageGeometry,
    Recipient,
    RecipientStatus,
    Role,
    Status,
)
from esign.core.document.field_values import needs_signature
from esign.core.document.signing_draft import EnteredValue, SigningDraft, put_in_values
from esign.core.instant import Instant, to_datetime
from esign.core.language import LANGUAGES
from esign.core.people import brand_colours
from esign.core.people.account import COLOUR, Organisation
from esign.web.logos import get_logo_path
from esign.web.signing.body import dedupe_pictures
from esign.web.signing.field_steps import FieldPlace, SigningStep, build_steps, format_date, list_places
from esign.web.signing.words import SigningWords

HANDS = "abc"
PARTS = {Role.SIGNER: "sign", Role.APPROVER: "approve", Role.VIEWER: "read", Role.CC: "read"}
ENDED = (Status.DECLINED, Status.EXPIRED, Status.CANCELLED)
DOTS_PER_POINT = 110 / 72  # as most pages are rendered; long documents and extreme sizes differ


@dataclass(frozen=True, slots=True)
class LinkFacts:
    """What every page about a document needs.

    `address` is the path of the link, `contact` the address for questions, or None.
    """

    document: Document
    recipient: Recipient
    organisation: Organisation
    words: SigningWords
    address: str
    contact: str | None

    @property
    def zone(self) -> str:
        """Return the organisation's time zone."""
        return self.organisation.time_zone

    @property
    def member(self) -> str | None:
        """Return the name of the member who sent the document, or None if it was not a member."""
        by = self.document.created_by
        return by.name if by.kind == "member" else None

    @property
    def sender(self) -> str:
        """Return the name of the member who sent the document, or else of the organisation."""
        return self.member or self.organisation.name

    @property
    def write_to(self) -> str | None:
        """Return the address for questions, quoted for a mailto link, or None."""
        return quote(self.contact, safe="@") if self.contact else None


def build_frame(facts: LinkFacts) -> dict[str, object]:
    """Return the values that the frame of every page uses."""
    return {
        "t": facts.words,
        "languages": LANGUAGES,
        "part": PARTS[facts.recipient.role],
        "document": facts.document,
        "me": facts.recipient,
        "organisation": facts.organisation,
        "sender": facts.sender,
        "member": facts.member,
        "write_to": facts.write_to,
        "address": facts.address,
        "mark": make_initials(facts.organisation.name),
        "logo": describe_logo(facts.organisation),
        "brand": choose_colours(facts.organisation.colour),
        "tones": brand_colours.choose_tones(facts.organisation.colour),
        "test": facts.document.mode is Mode.TEST,
        "ancestors": facts.organisation.embed_origins,
        "outcome": find_outcome(facts),
    }


def find_outcome(facts: LinkFacts) -> str | None:
    """Return how the recipient's part has ended, for a page that embeds this one, or None while it is open.

    It is `completed`, `declined`, or `error` if the document was declined, expired or cancelled otherwise.
    """
    document, me = facts.document, facts.recipient
    if me.status is RecipientStatus.DECLINED:
        return "declined"
    if document.status in ENDED:
        return "error"
    done = me.status is RecipientStatus.COMPLETED or document.status is Status.COMPLETED
    return "completed" if done else None


def build_reading_page(facts: LinkFacts, now: Instant) -> dict[str, object]:
    """Return the values of `read.html` and `document.html`: the pages, the fields on them, and the people."""
    document, me, words = facts.document, facts.recipient, facts.words
    today = to_datetime(now).astimezone(ZoneInfo(facts.zone)).date()
    path = build_steps(me, words, facts.organisation.name, today)
    asked = [step for step in path if not step.fixed]
    total = document.page_count
    laid: list[list[FieldPlace]] = [[] for _ in range(total)]
    for place in list_places(document, me, path, words):
        laid[place.field.page - 1].append(place)
    return {
        **build_frame(facts),
        "facts": list_facts(facts, total, len(asked)),
        "people": list_people(facts),
        "avatar": choose_avatar(facts),
        "pages": [
            {
                "number": n + 1,
                "page": page,
                "size": measure_picture(page),
                "factors": text_fit.find_factors(page.width, page.height),
                "places": laid[n],
                "filled": any(place.done for place in laid[n]),
                "steps": filter_steps(path, n + 1),
            }
            for n, page in enumerate(document.file.pages)
        ],
        "finished": len(document.list_finished()),
        "asked": asked,
        "lettering": text_fit,
        "shown": format_value,
    }


def build_signing_page(facts: LinkFacts, now: Instant, draft: SigningDraft) -> dict[str, object]:
    """Return the values of `sign.html`, for a signer or an approver, with what they entered before."""
    document, me, words = facts.document, facts.recipient, facts.words
    return {
        **build_reading_page(replace(facts, recipient=put_in_values(me, draft)), now),
        "draft": serialise_draft(now, draft.revision, draft.since(0)),
        "signature_apart": needs_signature(me),
        "consent": consent.write_agreement(words.locale, document.title, me.role),
        "consent_hash": consent.hash_wording(words.locale, me.role),
        "disclosure": consent.write_disclosure(words.locale, facts.organisation.name, me.role),
        "hands": HANDS,
        "script": {**words.script, **words.catalogue[f"script_{PARTS[me.role]}"]},
    }


def serialise_draft(now: Instant, revision: int, values: Mapping[str, EnteredValue]) -> dict[str, object]:
    """Return a draft, or the new part of it, as the page's script reads it."""
    return {"now": now, "revision": revision, "values": dedupe_pictures(values)}


def filter_steps(path: tuple[SigningStep, ...], number: int) -> list[SigningStep]:
    """Return the steps whose field is on this page."""
    return [step for step in path if step.field.page == number]


def format_value(step: SigningStep) -> str:
    """Return the value of a fixed step as the sealed document will show it."""
    if step.fixed and step.field.type == "date":
        return format_date(step.value, step.field.options.get("format") or "YYYY-MM-DD")
    return step.value


def list_facts(facts: LinkFacts, pages: int, fields: int) -> list[Markup]:
    """Return the facts about the document: pages, fields, minutes to sign, and the day it expires."""
    words, part = facts.words, PARTS[facts.recipient.role]
    line = [words.count("pages", pages)]
    if fields or part == "sign":
        line.append(words.count(f"fields_{part}", fields) if fields else words("no_fields"))
    line.append(words.count("minutes", estimate.estimate_minutes(pages, fields)))
    if facts.document.expires_at is not None:
        line.append(words("open_until", date=words.date(facts.document.expires_at, facts.zone)))
    return line


def list_people(facts: LinkFacts) -> list[tuple[int, bool, Markup]]:
    """Return a colour, whether it is the reader, and a sentence for each recipient."""
    lines = []
    for number, who in enumerate(facts.document.recipients):
        mine = who.id == facts.recipient.id
        key = f"you_{PARTS[who.role]}" if mine else choose_sentence(who, facts.recipient)
        lines.append((number % 8 + 1, mine, facts.words(key, name=who.name)))
    return lines


def choose_sentence(who: Recipient, me: Recipient) -> str:
    """Return the key of the sentence about another recipient."""
    if who.role not in ACTING:
        return "gets_copy"
    when = "after" if who.order > me.order and me.acting else "too"
    if who.status is RecipientStatus.COMPLETED:
        when = "done"
    return f"other_{PARTS[who.role]}_{when}"


def choose_avatar(facts: LinkFacts) -> tuple[str, int | None]:
    """Return the sender's initials, and their colour as a recipient, or None if they are not one."""
    email = (facts.document.created_by.email or "").casefold()
    for number, who in enumerate(facts.document.recipients):
        if facts.member and who.email.casefold() == email:
            return make_initials(facts.sender), number % 8 + 1
    return make_initials(facts.sender), None


def describe_logo(organisation: Organisation) -> dict[str, object] | None:
    """Return the address and the size of the organisation's logo, or None without one.

    The size lets the browser keep room for the picture before it arrives.
    """
    logo = organisation.logo
    return (
        {"address": get_logo_path(logo), "width": logo.width, "height": logo.height, "wide": logo.is_wide}
        if logo
        else None
    )


def make_initials(name: str) -> str:
    """Return at most two letters of a name: NJ for Northlight Joinery."""
    return "".join(part[0] for part in re.findall(r"\w+", name)[:2]).upper() or "e"


def choose_colours(colour: str) -> tuple[str, str]:
    """Return the organisation's colour, and the colour of text on it that can be read."""
    ground = colour if brand_colours.PATTERN.fullmatch(colour) else COLOUR
    return ground, brand_colours.choose_ink(ground)


def measure_picture(page: PageGeometry) -> tuple[int, int]:
    """Return width and height of the picture of a page, so that the browser keeps room for it."""
    return max(1, round(page.width * DOTS_PER_POINT)), max(1, round(page.height * DOTS_PER_POINT))
