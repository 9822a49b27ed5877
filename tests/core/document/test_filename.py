"""Names of files that every system takes, none twice."""

from pathlib import Path

import pytest

from esign.core.document.filename import LONGEST, make_distinct, make_portable


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("offer.pdf", "offer.pdf"),
        ("Angebot Müller & Söhne.pdf", "Angebot Müller & Söhne.pdf"),
        ("契約書.pdf", "契約書.pdf"),
        ("u\u0308ber.pdf", "über.pdf"),
        ("../../etc/passwd", "_.._etc_passwd"),
        ('a<b>c:d"e|f?g*h.pdf', "a_b_c_d_e_f_g_h.pdf"),
        ("fdp.\u202egpj.pdf", "fdp.gpj.pdf"),
        ("line\r\nbreak\x00.pdf", "linebreak.pdf"),
        ("CON.pdf", "_CON.pdf"),
        ("lpt1", "_lpt1"),
        ("console.pdf", "console.pdf"),
        (" . .pdf", "document.pdf"),
        (".pdf", "document.pdf"),
        ("", "document"),
        ("a. ", "a"),
        ("no ending but a. dot in it", "no ending but a. dot in it"),
        (f"{'x' * 300}.pdf", f"{'x' * LONGEST}.pdf"),
        (f"a{'契' * 100}.pdf", f"a{'契' * 79}.pdf"),
    ],
)
def test_a_name_is_made_portable(name: str, expected: str) -> None:
    assert make_portable(name) == expected
    assert make_portable(expected) == expected


def test_the_longest_name_of_any_script_can_be_written(tmp_path: Path) -> None:
    for letter in "aé契😀":
        *_, last = make_distinct([make_portable(f"{letter * 300}.pdf")] * 100)
        (tmp_path / last).touch()


def test_names_that_are_alike_get_numbers() -> None:
    names = ["offer.pdf", "Offer.PDF", "offer.pdf", "offer (2).pdf", "a", "A", "STRASSE", "straße"]
    assert make_distinct(names) == [
        "offer.pdf",
        "Offer (2).PDF",
        "offer (3).pdf",
        "offer (2) (2).pdf",
        "a",
        "A (2)",
        "STRASSE",
        "straße (2)",
    ]
