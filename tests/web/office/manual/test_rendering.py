"""The pages of docs/ as the program shows them: all are there, and every link, anchor and picture leads somewhere."""

import re
from itertools import pairwise
from pathlib import Path

import pytest

from esign.web.office.manual.contents import SECTIONS, find_example, find_folder, find_place, list_names
from esign.web.office.manual.rendering import UnfitPage, load_page, read_lead, read_title, render_page

ROOT = Path(__file__).parents[4]
NAMES = list(list_names())


def test_every_page_of_the_folder_is_in_the_contents_once() -> None:
    assert sorted(NAMES) == sorted(path.stem for path in (ROOT / "docs").glob("*.md")), (
        "name the page in SECTIONS of esign/web/office/manual/contents.py"
    )


def test_a_checkout_reads_its_own_folder() -> None:
    assert (find_folder(), find_example()) == (ROOT / "docs", ROOT / "esign.toml.example")


def test_a_page_knows_its_section_and_its_neighbours() -> None:
    first, last = find_place(NAMES[0]), find_place(NAMES[-1])
    assert first is not None and last is not None
    assert (first.before, first.after, first.section) == (None, NAMES[1], next(iter(SECTIONS)))
    assert (last.before, last.after) == (NAMES[-2], None)
    assert find_place("nothing") is None


@pytest.mark.parametrize("name", NAMES)
def test_every_link_anchor_and_picture_of_a_page_leads_somewhere(name: str) -> None:
    page = load_page(name)
    assert page.title == read_title(name)
    for path, anchor in re.findall(r'href="/docs/([a-z0-9.-]+)(?:#([^"]*))?"', page.body):
        if path == "esign.toml.example":
            continue
        anchors = {heading.id for heading in load_page(path).headings}
        assert not anchor or anchor in anchors, f"{path}#{anchor}"
    for picture in re.findall(r'src="/docs/images/([^"]+)"', page.body):
        assert (find_folder() / "images" / picture).is_file()
    ids = re.findall(r'\bid="([^"]+)"', page.body)
    assert len(ids) == len(set(ids)) and ids == [heading.id for heading in page.headings]


@pytest.mark.parametrize("name", NAMES)
def test_a_page_has_no_script_no_style_and_says_what_it_is_about_first(name: str) -> None:
    page = load_page(name)
    assert re.search(r"<script|<style|<[^>]*\s(?:style|on[a-z]+)=", page.body) is None
    assert 40 < len(read_lead(name)) < 700
    levels = [1, *(heading.level for heading in page.headings)]
    assert all(below <= above + 1 for above, below in pairwise(levels)), "no level is skipped"


def test_markdown_links_become_those_of_the_server() -> None:
    text = "# Title\n\n[a](mail.md#spf) [b](dev/contract.md#5) [c](https://example.com) [d](openapi.json) [e](#x)"
    body = render_page("title", text).body
    assert re.findall(r'<a href="([^"]+)">', body) == [
        "/docs/mail#spf",
        "https://example.com",
        "/api/v1/openapi.json",
        "#x",
    ]
    assert "<span>b</span>" in body


def test_headings_have_the_anchors_of_code_hosts_and_passages_for_the_search() -> None:
    page = render_page(
        "a", "# A\n\nLead *it*.\n\n## `esign x`: what & why\n\nBelow.\n\n## Twice\n\n## Twice\n"
    )
    assert [heading.id for heading in page.headings] == ["esign-x-what--why", "twice", "twice-1"]
    assert [passage.text for passage in page.passages] == ["Lead it.", "Below.", "", ""]
    assert page.headings[0].text == "esign x: what & why"


def test_a_part_that_folds_is_shown_and_a_comment_is_not() -> None:
    page = render_page(
        "a", "# A\n\nLead.\n\n<!-- made -->\n<details>\n<summary>More</summary>\n\nB\n\n</details>\n"
    )
    assert "<details>\n<summary>More</summary>" in page.body and "made" not in page.body


@pytest.mark.parametrize(
    "text",
    [
        "Not a title",
        "# A\n\n<script>alert(1)</script>\n",
        "# A\n\n<details open onclick=x>\n",
        "# A\n\nWithin <b>a line</b>.\n",
        "# A\n\n![x](https://example.com/x.png)\n",
    ],
)
def test_what_is_not_rendered_is_refused(text: str) -> None:
    with pytest.raises(UnfitPage):
        render_page("a", text)


def test_a_table_has_no_header_without_words_and_no_style() -> None:
    body = render_page("a", "# A\n\nLead.\n\n| | B |\n|---|---:|\n| c | d |\n").body
    assert '<td></td>\n<th class="to-right">B</th>' in body and "style" not in body


def test_code_is_escaped() -> None:
    body = render_page("a", "# A\n\nLead.\n\n```html\n<script>x</script>\n```\n").body
    assert "&lt;script&gt;x&lt;/script&gt;" in body and "<script" not in body
