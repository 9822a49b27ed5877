"""What is taken at the door can be sealed within the limits of a seal, whatever fields it gets."""

import time
from collections.abc import Callable

import pypdfium2
import pytest

from esign.core.errors import Problem
from esign.pdf.inspection import TOO_COMPLEX, UploadLimits
from esign.pdf.page.render import MOST_TIMES, SMALL, compute_seal_scale
from esign.pdf.seal import self_check
from esign.pdf.worker.queue_turn import PdfJobKind, QueueTurn
from esign.pdf.worker.workers import Workers
from tests.pdf.costly import A4, KINDS, make_costly
from tests.pdf.sealing import a_field

FIELDS = 120  # drawn one by one, they took several times as long as the page


def measure(work: Callable[[], object]) -> float:
    """Return the seconds of processor time."""
    began = time.process_time()
    work()
    return time.process_time() - began


def measure_drawing(pdf: bytes, times: float = 1.0) -> float:
    """Return what it costs to draw the first page of a file that was just opened, at so many times the seal's size."""
    page = pypdfium2.PdfDocument(pdf)[0]
    return measure(lambda: page.render(scale=compute_seal_scale(*A4) * times))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_how_a_page_is_drawn_small_bounds_what_it_costs_at_the_size_of_the_seal(kind: str) -> None:
    pdf = make_costly(kind)
    small = min(measure_drawing(pdf, SMALL) for _ in range(3))
    assert min(measure_drawing(pdf) for _ in range(2)) < 1.3 * MOST_TIMES * small


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_page_is_drawn_twice_for_a_seal_however_many_fields_it_has(kind: str) -> None:
    before, after = make_costly(kind), make_costly(kind, further=b"\n0 .8 .1 rg 0 0 595 842 re f")
    fields = [
        a_field("name", "Jo Li", id=f"fld_{n}", x=2 + 8 * (n % 12), y=2 + 9 * (n // 12), width=6, height=2)
        for n in range(FIELDS)
    ]
    once = measure_drawing(before) + measure_drawing(after)
    assert measure(lambda: self_check.check_ink(before, after, fields)) < 2 * once


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["lines", "paint", "shadings", "groups"])
async def test_a_page_that_is_cheap_only_while_it_is_small_is_refused(
    kind: str, limits: UploadLimits, workers: Workers
) -> None:
    """It costs more at the size of the seal than an upload may."""
    pdf = make_costly(kind, 40)
    assert measure_drawing(pdf, SMALL) < 4
    with pytest.raises(Problem) as refusal:
        await workers.inspect(pdf, limits, QueueTurn(PdfJobKind.UPLOAD, "org", "key", cpu_seconds=1))
    assert (refusal.value.code, refusal.value.message) == ("invalid_file", TOO_COMPLEX)
