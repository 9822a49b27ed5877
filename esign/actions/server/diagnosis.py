"""What `esign doctor` says: a line for each check, and the result of all of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

VERSION = 1  # of the machine form; members may be added to it
SHOWN = 5  # findings of one check that a person reads; the machine form has up to MOST
MOST = 1_000


class CheckState(StrEnum):
    """How a check ended. What was not checked is never `ok`."""

    OK = "ok"
    WARNING = "warning"
    WRONG = "wrong"
    NOT_CHECKED = "not_checked"


LABELS = {
    CheckState.OK: "ok",
    CheckState.WARNING: "WARNING",
    CheckState.WRONG: "WRONG",
    CheckState.NOT_CHECKED: "not checked",
}


@dataclass(frozen=True, slots=True)
class CheckLine:
    """The result of one check: a sentence, what was found one by one, and what to do."""

    check: str
    state: CheckState
    words: str
    remedy: str | None = None
    findings: Sequence[str] = ()

    def describe(self) -> dict[str, object]:
        """Return the line in the machine form."""
        return {
            "check": self.check,
            "state": self.state.value,
            "summary": self.words,
            "remedy": self.remedy,
            "count": len(self.findings),
            "findings": list(self.findings[:MOST]),
        }

    def write(self) -> Iterable[str]:
        """Yield the line and those below it, as a person reads them."""
        yield f"{LABELS[self.state]:<12} {self.check}: {self.words}"
        for finding in self.findings[:SHOWN]:
            yield f"{'':<12}   {finding}"
        if len(self.findings) > SHOWN:
            yield f"{'':<12}   and {len(self.findings) - SHOWN} more; --json lists them"
        if self.remedy is not None:
            yield f"{'':<12}   {self.remedy}"


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All lines, and what `--fix` did."""

    lines: Sequence[CheckLine]
    repairs: Sequence[str] = ()

    @property
    def state(self) -> CheckState:
        """Return the worst state of all checks; what was not checked does not count."""
        states = {line.state for line in self.lines}
        for state in (CheckState.WRONG, CheckState.WARNING):
            if state in states:
                return state
        return CheckState.OK

    def describe(self) -> dict[str, object]:
        """Return the machine form."""
        return {
            "version": VERSION,
            "result": self.state.value,
            "checks": [line.describe() for line in self.lines],
            "repairs": list(self.repairs),
        }

    def write(self) -> Iterable[str]:
        """Yield what a person reads, line by line."""
        for line in self.lines:
            yield from line.write()
        for repair in self.repairs:
            yield f"{'repaired':<12} {repair}"
        counts = {state: sum(line.state is state for line in self.lines) for state in CheckState}
        said = [f"{counts[state]} {LABELS[state].lower()}" for state in CheckState if counts[state]]
        yield f"{len(self.lines)} checks: {', '.join(said)}."
