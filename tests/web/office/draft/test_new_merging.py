"""Two people at one draft: every way in which their changes can meet."""

import pytest

from esign.web.office.draft.draft_form import DRAFT, FormSheet, Texts, load_sheet, move_row
from esign.web.office.draft.merge_edits import MINE, THEIRS, EditConflict, apply_choices, merge_edits

ADA = dict.fromkeys(DRAFT.entry, "") | {"order": "1", "name": "Ada", "email": "ada@example.test"}
BO = dict.fromkeys(DRAFT.entry, "") | {"order": "2", "name": "Bo", "email": "bo@example.test"}


def sheet(title: str = "a", /, **rows: Texts) -> FormSheet:
    return FormSheet(dict.fromkeys(DRAFT.top, "") | {"title": title}, rows)


@pytest.mark.parametrize(
    ("mine", "theirs", "merged"),
    [("a", "a", "a"), ("b", "a", "b"), ("a", "b", "b"), ("b", "b", "b"), ("b", "c", None)],
)
def test_whoever_changed_a_text_counts(mine: str, theirs: str, merged: str | None) -> None:
    found = merge_edits(sheet("a"), sheet(mine), sheet(theirs))
    if merged is None:
        assert found.conflicts == (EditConflict("title", "b", "c"),) and found.sheet.top["title"] == "b"
    else:
        assert not found.conflicts and found.sheet.top["title"] == merged


SAME, OTHER, THIRD = ADA, ADA | {"name": "Ada King"}, ADA | {"name": "Ada Byron"}
ROWS: list[tuple[Texts | None, Texts | None, Texts | None, Texts | None, list[str]]] = [
    # seen, mine, theirs: what comes of it, and what is asked
    (SAME, SAME, SAME, SAME, []),
    (SAME, OTHER, SAME, OTHER, []),
    (SAME, SAME, OTHER, OTHER, []),
    (SAME, OTHER, THIRD, OTHER, ["name-x"]),
    (SAME, None, SAME, None, []),
    (SAME, SAME, None, None, []),
    (SAME, None, None, None, []),
    (SAME, OTHER, None, OTHER, ["row-x"]),
    (SAME, None, OTHER, None, ["row-x"]),
    (None, OTHER, None, OTHER, []),
    (None, None, OTHER, OTHER, []),
    (None, OTHER, OTHER, OTHER, []),
]


@pytest.mark.parametrize(("seen", "mine", "theirs", "merged", "asked"), ROWS)
def test_recipients_come_and_go_on_both_sides(
    seen: Texts | None, mine: Texts | None, theirs: Texts | None, merged: Texts | None, asked: list[str]
) -> None:
    def of(row: Texts | None) -> FormSheet:
        return sheet(**({"x": row} if row else {}), y=BO)

    found = merge_edits(of(seen), of(mine), of(theirs))
    assert found.sheet.rows.get("x") == merged
    assert found.sheet.rows["y"] == BO
    assert [one.field for one in found.conflicts] == asked


@pytest.mark.parametrize("row", [row for row in ROWS if row[4]])
@pytest.mark.parametrize("choice", [MINE, THEIRS])
def test_after_a_choice_nothing_is_asked_again(
    row: tuple[Texts | None, Texts | None, Texts | None, Texts | None, list[str]], choice: str
) -> None:
    seen, mine, theirs = (sheet(**({"x": one} if one else {})) for one in row[:3])
    asked = merge_edits(seen, mine, theirs)
    choices = {one.field: choice for one in asked.conflicts}
    found = merge_edits(theirs, apply_choices(asked.sheet, theirs, choices), theirs)
    assert not found.conflicts
    assert found.sheet.rows == (mine if choice == MINE else theirs).rows


def test_a_step_stays_where_it_is_when_people_move() -> None:
    three = sheet(a=ADA, b=BO | {"order": "1"}, c=BO | {"order": "2"})
    found = move_row(move_row(three, "c", -1), "c", -1)
    assert [(key, row["order"]) for key, row in found.rows.items()] == [("c", "1"), ("a", "1"), ("b", "2")]
    assert move_row(found, "c", -1) == found and move_row(found, "nobody", 1) == found


def test_what_a_page_has_seen_comes_back_as_it_went() -> None:
    one = sheet("ü", x=ADA)
    assert load_sheet(one.dump()) == one


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "null", '{"top":{},"rows":{}}', '{"top":[],"rows":1}', "\ud800"]
)
def test_what_no_page_has_seen_is_nothing(text: str) -> None:
    assert load_sheet(text) is None
