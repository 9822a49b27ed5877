"""A text that was found to fit is not tried again; one that was not, or that differs in anything, is."""

import pytest

from esign.pdf.worker.fitting_texts import FittingTexts, make_key
from esign.pdf.worker.workers import Workers
from tests.pdf.sealing import a_field
from tests.pki import NOW

A4 = (595.0, 842.0)


def test_the_oldest_make_room() -> None:
    fitting = FittingTexts(most=2)
    fitting.add([b"a", b"b", b"a", b"c"])
    assert [key for key in (b"a", b"b", b"c") if key in fitting] == [b"a", b"c"]


def test_a_text_fits_wherever_its_box_lies() -> None:
    here, there = a_field("text", "Copper", x=10), a_field("text", "Copper", x=40, y=70, page=2, id="fld_2")
    assert make_key("org_a", here, A4, ()) == make_key("org_a", there, A4, ())


@pytest.mark.parametrize(
    "change",
    [{"value": "Kettle"}, {"width": 9}, {"height": 1}, {"font_size": 30.0}, {"lang": "de"}],
    ids=str,
)
def test_another_text_box_or_type_is_tried_anew(change: dict[str, object]) -> None:
    field = {"value": "Copper", "width": 30, "height": 5} | change
    usual = make_key("org_a", a_field("text", "Copper", width=30, height=5), A4, ())
    assert make_key("org_a", a_field("text", **field), A4, ()) != usual  # type: ignore[arg-type]


def test_another_page_font_or_tenant_is_tried_anew() -> None:
    field = a_field("text", "Copper", options={"multiline": False})
    keys = {
        make_key("org_a", field, A4, ()),
        make_key("org_b", field, A4, ()),
        make_key("org_a", field, (200.0, 300.0), ()),
        make_key("org_a", field, A4, ("/usr/share/fonts",)),
        make_key("org_a", a_field("text", "Copper", options={"multiline": True}), A4, ()),
    }
    assert len(keys) == 5


async def test_only_texts_that_are_not_known_to_fit_take_a_worker() -> None:
    fits = a_field("text", "ok", id="fld_a")
    too_long = a_field("text", "far too long for this " * 9, id="fld_b", width=5, height=1)
    workers = Workers()
    try:
        assert await workers.find_unfit_texts([fits, too_long], [A4], NOW) == ["fld_b"]
        await workers.close()  # from here on a job of a worker is `unavailable`
        assert await workers.find_unfit_texts([fits], [A4], NOW) == []
        with pytest.raises(Exception, match="unavailable"):
            await workers.find_unfit_texts([fits, too_long], [A4], NOW)
    finally:
        await workers.close()
