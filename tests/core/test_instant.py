from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esign.core.instant import DAY, HOUR, MINUTE, SECOND, parse, rfc3339, to_datetime


@pytest.mark.parametrize(
    ("at", "written"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (1_795_220_040_123, "2026-11-21T00:14:00.123Z"),
        (1_795_220_040_007, "2026-11-21T00:14:00.007Z"),
        (1_709_164_800_000, "2024-02-29T00:00:00.000Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
    ],
)
def test_an_instant_is_written_in_utc_with_milliseconds_and_z(at: int, written: str) -> None:
    assert rfc3339(at) == written
    assert parse(written) == at


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-21T00:14:00Z",
        "2026-11-21T01:14:00+01:00",
        "2026-11-20T14:44:00.000-09:30",
        "2026-11-21T00:14:00.000999Z",
    ],
)
def test_any_offset_and_precision_is_read_down_to_the_millisecond(text: str) -> None:
    assert rfc3339(parse(text)) == "2026-11-21T00:14:00.000Z"


@pytest.mark.parametrize("text", ["2026-11-21T00:14:00", "2026-11-21", "", "soon", "2026-02-30T00:00:00Z"])
def test_a_time_without_its_offset_or_that_does_not_exist_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        parse(text)


@settings(deadline=None)  # a busy machine is no fault
@given(st.datetimes(min_value=datetime(1970, 1, 1), max_value=datetime(9999, 12, 31), timezones=st.just(UTC)))
def test_writing_and_reading_gives_the_same_instant_back(moment: datetime) -> None:
    at = int(moment.replace(microsecond=0).timestamp()) * 1000 + moment.microsecond // 1000
    assert parse(rfc3339(at)) == at
    assert to_datetime(at) == moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def test_the_units_are_milliseconds() -> None:
    assert (SECOND, MINUTE, HOUR, DAY) == (1000, 60_000, 3_600_000, 86_400_000)
