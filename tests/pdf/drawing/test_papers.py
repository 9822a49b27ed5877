"""The certificate page of real documents: what the rules say of them, in words, for eyes and for screen readers."""

import io
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pikepdf
import pypdfium2
import pytest
from pikepdf import Array, Dictionary, Name

from esign.core.actor import Actor
from esign.core.document import audit_file
from esign.core.document.state.outcome import Event
from esign.pdf.drawing import typst_template
from esign.pdf.report import VerificationCase
from esign.pdf.seal_order import SealOrder
from esign.pdf.worker.workers import Workers
from tests import pseudo
from tests.papers import Story, a_story, draw_story, tell_story
from tests.pdf.sealing import a_pdf, text_of, words
from tests.pki import NOW, a_seal, an_authority

ROOT = an_authority()
KEY = Actor("api_key", "key_2", "請求書")
ENGLISH = a_story("en", 3)
PAPER = draw_story(ENGLISH, "en")
TEXT = text_of(PAPER)


def begin_earlier(story: Story, *events: Event) -> Story:
    """The same with more entries before all others."""
    made = Story(story.document, story.now)
    made.add(*events)
    made.lines += story.lines
    return made


# ---------- what is told ----------


def test_the_trail_says_whom_a_reminder_was_for_and_who_had_a_link_given() -> None:
    story = a_story("en", 1)
    one = story.document.recipients[0]
    reminded = Event("recipient.reminded", story.now, recipient_id=one.id)
    assert tell_story(begin_earlier(story, reminded), "en")["audit"][0]["note"] == one.name
    assert "Signing link given to the sender" in TEXT and "The sender was also given a link" in TEXT
    assert TEXT.count("The sender was also given a link") == 1, "to the one it was for"


def test_somebody_who_gets_a_copy_proves_nothing() -> None:
    found = tell_story(a_story("en", 5), "en")["recipients"]
    assert [one["authentication"] and one["authentication"]["method"] for one in found] == ["link"] * 4 + [
        None
    ]


@pytest.mark.parametrize(
    ("language", "said"),
    [
        (
            "en",
            ["Firefox 132 on Windows", "API key billing", "Removed from the file: scripts, form fields (dr"],
        ),
        (
            "de",
            ["Firefox 132 unter Windows", "API-Schlüssel billing", "Aus der Datei entfernt: Skripte, Form"],
        ),
        ("fr", ["Firefox 132 sous Windows", "Clé d’API billing", "Le fichier endommagé a été réparé"]),
        ("pl", ["Firefox 132, Windows", "Klucz API billing", "Usunięto z pliku: skrypty"]),
    ],
)
def test_what_the_program_says_is_said_in_the_language_of_the_page(language: str, said: list[str]) -> None:
    text = words(text_of(draw_story(a_story(language, 3), language)))
    assert [one for one in said if words(one) not in text] == []


def test_a_device_is_told_as_far_as_it_is_known() -> None:
    story = a_story("en", 3)
    pages = []
    for agent in ("Mozilla/5.0 (X11; Linux x86_64)", "curl/8.4.0"):
        people = [
            replace(one, origin=replace(one.origin, user_agent=agent)) for one in story.document.recipients
        ]
        story.document = replace(story.document, recipients=tuple(people))
        pages.append(text_of(draw_story(story, "en")))
    assert "Linux" in pages[0] and "x86_64" not in pages[0]
    assert "Other device" in pages[1] and "curl" not in pages[1]


def test_names_nobody_could_be_asked_about_are_spelt_where_no_font_has_them() -> None:
    """An API key, a member who acts later, the seal's own certificate: the document is sealed all the same."""
    story = a_story("en", 1)
    facts = tell_story(
        begin_earlier(story, Event("link.issued", story.now, KEY, story.document.recipients[0].id)), "en"
    )
    facts["seal"] = {**facts["seal"], "subject": "山 Seal", "time": {"source": "tsa", "authority": "印 TSA"}}
    text = words(text_of(typst_template.draw_template(facts, "certificate", story.now)))
    for spelt in ("[U+8ACB]", "[U+6C42]", "[U+66F8]", "[U+5C71]Seal", "[U+5370]TSA"):
        assert spelt in text


def find_overlaps(pdf: bytes) -> list[str]:
    """Lines of text that lie on each other, or reach out of their page."""
    found = []
    document = pypdfium2.PdfDocument(pdf)
    for page in document:
        text, (width, height) = page.get_textpage(), page.get_size()
        boxes = [text.get_rect(at) for at in range(text.count_rects())]
        said = [text.get_text_bounded(*box) for box in boxes]
        for at, (left, bottom, right, top) in enumerate(boxes):
            if left < 20 or right > width - 20 or bottom < 10 or top > height - 10:
                found.append(f"out of the page: {said[at]}")
            for other, (l2, b2, r2, t2) in enumerate(boxes[:at]):
                if min(right, r2) - max(left, l2) > 1 and min(top, t2) - max(bottom, b2) > 2.5:
                    found.append(f"{said[other]} | {said[at]}")
    document.close()
    return found


def test_labels_that_are_two_fifths_longer_are_whole_and_beside_each_other() -> None:
    story = a_story("en", 5)
    labels = {key: value for key, value in typst_template.load_labels("en").items() if key != "lang"}
    longer = pseudo.translate(labels)
    facts = {**tell_story(story, "en"), "labels": {**longer, "lang": "en"}}
    pdf = typst_template.draw_template(facts, "certificate", story.now)
    assert find_overlaps(draw_story(story, "en")) == []
    assert find_overlaps(pdf) == []
    said, seen = text_of(draw_story(story, "en")), words(text_of(pdf))
    for key, label in labels.items():
        if isinstance(label, str) and "{" not in label and label in said:
            assert [word for word in str(longer[key]).split() if word not in seen] == [], key


@pytest.mark.parametrize("language", ["en", "ar"])
def test_fifty_people_and_hundreds_of_entries_are_all_told(language: str) -> None:
    story = a_story(language, 50)
    pdf = draw_story(story, language)
    text = text_of(pdf)
    assert len(story.lines) > 400 and all(line.hash.hex()[:8] in text for line in story.lines)
    assert all(one.email in text for one in story.document.recipients)
    with pikepdf.open(io.BytesIO(pdf)) as opened:
        assert len(opened.pages) < 25


async def test_a_trail_of_thousands_of_entries_keeps_no_document_from_its_seal(workers: Workers) -> None:
    """More than a worker could draw within its limits; the file holds every one."""
    story = a_story("en", 3)
    last = story.lines.pop()
    fetched = Event("document.downloaded", last.at, KEY, data={"variant": "original"})
    person = Actor("recipient", last.recipient_id, "Amelia Whitcombe")
    done = Event("recipient.completed", last.at, person, last.recipient_id, data={"act": "signed"})
    story.add(*(8000 * [fetched]), done)
    facts = tell_story(story, "en")
    trail = audit_file.write_audit_file(story.document.id, story.lines)
    made = await workers.seal(SealOrder(a_pdf(), (), facts, NOW, trail=trail), a_seal(ROOT).credential)
    verdict = await workers.verify(made.sealed, VerificationCase((ROOT.der,), NOW))
    assert verdict["result"] == "valid" and verdict["audit"]
    assert (verdict["audit"]["entries"], verdict["audit"]["embedded"]) == (len(story.lines), True)
    text = text_of(made.certificate)
    first, end = len(story.lines) - 8000 + 100, len(story.lines) - 101
    assert f"Entries {first} to {end}: only in audit.json" in text
    assert story.lines[0].hash.hex()[:8] in text and story.lines[-1].hash.hex()[:8] in text


# ---------- for those who hear it ----------


def elements(pdf: pikepdf.Pdf) -> Iterator[tuple[str, Any]]:
    """(kind, element) in the order in which they are read."""
    waiting = [pdf.Root.StructTreeRoot]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Dictionary) and "/S" in node:
            yield str(node.S)[1:], node
        below = node.get("/K") if isinstance(node, Dictionary) else None
        waiting += reversed(list(below)) if isinstance(below, Array) else [below] if below is not None else []


def test_a_screen_reader_finds_language_title_headings_a_table_and_words_for_pictures() -> None:
    with pikepdf.open(io.BytesIO(PAPER)) as pdf:
        found = list(elements(pdf))
        kinds = [kind for kind, _ in found]
        assert str(pdf.Root.Lang) == "en" and pdf.Root.MarkInfo.Marked
        assert str(pdf.docinfo["/Title"]) == "Certificate of completion – Supply agreement 2027"
        assert [kind for kind in kinds if kind in ("H1", "H2", "H3")] == [
            "H1",
            *("H2", "H2", "H2"),
            *("H3", "H3", "H3"),
            "H2",
        ]
        assert kinds.count("Table") == 1
        assert kinds.count("TH") == 7, "six columns, and the one that holds the last rows together"
        alternatives = [str(node.get("/Alt", "")) for kind, node in found if kind == "Figure"]
        assert "Signature of Amelia Whitcombe" in alternatives
        assert any(text.startswith("Verify this document: https://") for text in alternatives)
        assert all(alternatives)


def test_every_page_of_the_certificate_reads_in_the_order_of_its_structure() -> None:
    with pikepdf.open(io.BytesIO(PAPER)) as pdf:
        assert all(page.obj.Tabs == Name.S for page in pdf.pages)
