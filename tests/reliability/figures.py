"""What a figure says: its target, what was measured, whether it held, by which command and on which day."""

import datetime
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

Run = Callable[[Sequence[str]], Awaitable["Figure"]]


@dataclass(frozen=True)
class Figure:
    """One row of the table in docs/reliability.md; `findings` must be 0 on every machine, however slow it is."""

    name: str
    target: str
    measured: str
    held: bool
    findings: int
    command: str

    def describe(self) -> str:
        """Return the row as Markdown, with today's date."""
        today = datetime.datetime.now(datetime.UTC).date().isoformat()
        verdict = "held" if self.held else "MISSED"
        return f"| {self.name} | {self.target} | {verdict}: {self.measured} | `{self.command}` | {today} |"
