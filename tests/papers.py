"""Certificate pages to look at: python -m tests.papers FOLDER [LANGUAGE ...]

For each language of the product, or those given, the certificate of a document with 1, 3 and 50 recipients, made by the
rules themselves, as FOLDER/LANGUAGE-PEOPLE-PAGE.png; and `test` and `tight`: test mode, and the longest names.
"""

import io
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pypdfium2
from PIL import Image, ImageDraw

from esign.actions.sealing.certificate_page import CertificateSource, gather_facts
from esign.core.actor import Actor, Author, Mode, Origin
from esign.core.document import audit, consent
from esign.core.document.document import Document, Ink, Recipient, Role
from esign.core.document.state import lifecycle
from esign.core.document.state.outcome import Event, Outcome
from esign.core.document.state.remind import send_reminder
from esign.core.instant import DAY, HOUR, MINUTE, SECOND, Instant, parse
from esign.core.language import LANGUAGES
from esign.pdf.drawing import typst_template
from esign.pdf.seal_order import SealFailed
from tests.factories import a_document, a_file, a_recipient, an_organisation

START: Instant = parse("2026-11-18T08:02:11.250Z")
PEOPLE: Mapping[str, tuple[str, ...]] = {
    "en": ("Amelia Whitcombe", "José Ángel Núñez-Ortega", "Priya Raghunathan"),
    "de": ("Katharina Vogel-Weißenburg", "Jürgen Groß", "Łukasz Żółkiewski"),
    "fr": ("Amélie Dubois-Lefèvre", "Loïc Bœuf", "Γιώργος Παπαδόπουλος"),
    "ar": ("محمد عبد الرحمن السيد", "נועה בן־דוד", "Amelia Whitcombe"),
    "ja": ("山田 花子", "प्रियंका श्रीवास्तव", "สมชาย ศรีสุวรรณ"),
}
TITLES = {
    "en": "Supply agreement 2027",
    "de": "Liefervertrag 2027 – Werk Weißenburg",
    "fr": "Contrat de fourniture 2027",
    "ar": "اتفاقية توريد 2027",
    "ja": "供給契約書 2027",
}
FIREFOX = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:132.0) Gecko/20100101 Firefox/132.0"
IPHONE = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)"
    " Version/18.1 Mobile/15E148 Safari/604.1"
)
PLACES = (
    Origin("203.0.113.7", FIREFOX),
    Origin("2001:db8:85a3::8a2e:370:7334", IPHONE),
    Origin("198.51.100.23"),
)
FONT_PATHS = tuple(
    filter(None, os.environ.get("ESIGN_SEAL__FONT_PATHS", "").split(os.pathsep))
)  # of Japanese
SENDER = Actor("member", "usr_1", "Katharina Vogel", "k.vogel@example.com")
SEAL = {
    "level": "B-B",
    "subject": "Northlight Document Seal",
    "sha256": "5e" * 32,
    "time": {"source": "clock"},
}


def a_stroke() -> bytes:
    image = Image.new("RGBA", (900, 300), (0, 0, 0, 0))
    points = [(30, 240), (250, 40), (330, 260), (480, 90), (560, 220), (870, 110)]
    ImageDraw.Draw(image).line(points, fill=(20, 30, 90, 255), width=13, joint="curve")
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


@dataclass
class Story:
    """A document on its way, and its trail."""

    document: Document
    now: Instant = START
    lines: list[audit.AuditEntry] = field(default_factory=list)

    def tell(self, outcome: Outcome) -> None:
        self.document = outcome.document
        self.add(*outcome.events)

    def add(self, *events: Event) -> None:
        for event in events:
            last = self.lines[-1].hash if self.lines else audit.START
            self.lines.append(
                audit.make_entry(event, self.document.id, len(self.lines) + 1, last, os.urandom(16))
            )

    def act(self, recipient: Recipient, origin: Origin, language: str) -> None:
        """Opens it, and finishes a little later."""
        self.now += 41 * MINUTE + 7 * SECOND
        invited = self.document.recipient(recipient.id)
        self.tell(lifecycle.view(self.document, invited, origin, self.now))
        self.now += 5 * MINUTE
        if not recipient.acting:
            return
        agreed = f"{consent.VERSION} {language}"
        seen = replace(self.document.recipient(recipient.id), fields=(), ink=recipient.ink)
        self.tell(lifecycle.complete(self.document, seen, agreed, origin, self.now))


def people_of(language: str, count: int) -> list[Recipient]:
    """Signers with a drawn and a typed name, an approver; with many also a viewer and somebody who gets a copy."""
    names = PEOPLE.get(language, PEOPLE["en"])
    inks = (Ink("drawn", "stroke", 900, 300), Ink("typed", text=names[1 % len(names)], hand="b"))
    made = []
    for n in range(count):
        role = {2: Role.APPROVER, 3: Role.VIEWER, 4: Role.CC}.get(n % 9, Role.SIGNER)
        name = names[n % 3] + (f" {n + 1}" if n > 2 else "")
        ink = replace(inks[n % 2], text=name if n % 2 else None) if role is Role.SIGNER else None
        made.append(a_recipient(name, email=f"recipient.{n + 1}@example.org", role=role, ink=ink))
    return made


def a_story(language: str, count: int, **changes: Any) -> Story:
    people = people_of(language, count)
    draft = a_document(
        *people,
        title=str(changes.pop("title", TITLES.get(language, TITLES["en"]))),
        locale=language,
        created_by=SENDER,
        created_at=START,
        file=a_file(12, name="supply-2027_final.pdf", repaired=True, removed=("scripts", "form fields")),
        **changes,
    )
    story = Story(draft)
    story.tell(lifecycle.create(draft, PLACES[2], story.now))
    story.now += 9 * MINUTE
    story.tell(lifecycle.send(story.document, Author(SENDER, PLACES[2]), story.now))
    if count > 3:
        for _ in range(6):
            story.now += DAY
            for one in [one for one in story.document.recipients if one.is_invited]:
                story.tell(send_reminder(story.document, one, story.now))
    story.now += 3 * HOUR
    now = {"name": people[0].name, "email": people[0].email}
    corrected = {"old": {**now, "email": "old@example.org"}, "new": now}
    story.add(Event("recipient.corrected", story.now, SENDER, people[0].id, PLACES[2], detail=corrected))
    key = Actor("api_key", "key_1", "billing")
    story.add(Event("link.issued", story.now, key, people[0].id, PLACES[2]))
    for n, one in enumerate(
        sorted(people, key=lambda one: one.acting)
    ):  # the last act is the end of the trail
        if one.role is not Role.CC:
            story.act(one, PLACES[n % 2], language)
    return story


def tell_story(story: Story, language: str) -> dict[str, Any]:
    """What the certificate is drawn from."""
    organisation = an_organisation(
        name="Northlight", colour="#0f6b78", locale=language, time_zone="Europe/Berlin"
    )
    source = CertificateSource(story.document, organisation, story.lines, {"stroke": a_stroke()})
    found = gather_facts(source, "https://sign.example.com", story.now)
    return {**found, "seal": SEAL, "attached": True}


def draw_story(story: Story, language: str) -> bytes:
    return typst_template.draw_template(tell_story(story, language), "certificate", story.now, FONT_PATHS)


def long() -> Story:
    """Names, a title and a file of the greatest length that the API takes."""
    story = a_story(
        "de", 3, title="Rahmenvereinbarung über die Lieferung von Donaudampfschifffahrtszubehör " * 2
    )
    first, *others = story.document.recipients
    wide = replace(
        first,
        name="Wolfeschlegelsteinhausenbergerdorff von Hohenlohe-Langenburg " * 3,
        email="a" * 64 + "@" + "b" * 60 + ".example.com",
    )
    story.document = replace(
        story.document, recipients=(wide, *others), file=replace(story.document.file, name="x" * 200 + ".pdf")
    )
    return story


def save(folder: Path, name: str, pdf: bytes) -> None:
    (folder / f"{name}.pdf").write_bytes(pdf)
    document = pypdfium2.PdfDocument(pdf)
    try:
        for number in range(len(document)):
            picture = document[number].render(scale=1.6).to_pil()
            picture.save(folder / f"{name}-{number + 1:02}.png")
    finally:
        document.close()


def main(folder: Path, *wanted: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for language in wanted or LANGUAGES:
        try:
            for count in (1, 3, 50):
                save(folder, f"{language}-{count:02}", draw_story(a_story(language, count), language))
        except SealFailed as failure:  # fonts of Japanese are not in the package
            print(f"{language}: {failure} ESIGN_SEAL__FONT_PATHS names folders with more fonts.")
    if not wanted:
        save(folder, "test", draw_story(a_story("de", 3, mode=Mode.TEST), "de"))
        save(folder, "tight", draw_story(long(), "de"))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
