import pytest

from esign.core.instant import DAY, parse
from esign.core.people.usage import find_month


@pytest.mark.parametrize(
    ("now", "first", "next_month"),
    [
        ("2026-11-21T10:00:00Z", "2026-11-01", "2026-12-01"),
        ("2026-12-31T23:59:59.999Z", "2026-12-01", "2027-01-01"),
        ("2027-01-01T00:00:00Z", "2027-01-01", "2027-02-01"),
        ("2028-02-29T12:00:00Z", "2028-02-01", "2028-03-01"),
        ("2027-01-31T23:30:00-02:00", "2027-02-01", "2027-03-01"),
    ],
)
def test_a_month_begins_and_ends_at_midnight_in_utc(now: str, first: str, next_month: str) -> None:
    month = find_month(parse(now))
    assert month.first_day == parse(f"{first}T00:00:00Z") // DAY
    assert month.ends_at == parse(f"{next_month}T00:00:00Z")
