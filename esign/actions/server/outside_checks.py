"""Checks what should lie outside this machine, by what the database says of it: backups and anchors."""

from collections.abc import Mapping
from dataclasses import dataclass

from esign.actions.server.anchor_targets import count_unmailed, name_target
from esign.actions.server.diagnosis import CheckLine, CheckState
from esign.actions.server.scheduled_backups import find_late
from esign.config import Config
from esign.config.values import OWNERS
from esign.core.instant import DAY, Instant, rfc3339
from esign.store.engine.database import Reader
from esign.store.server import anchors, backup_schedule
from esign.store.server.backup_schedule import BackupState

LATE_ANCHOR = 2 * DAY
NONE_YET = "the server has made none yet"


@dataclass(frozen=True, slots=True)
class OutsideFacts:
    """The state of scheduled backups, when the newest anchor was made, and whether trails have grown since.

    `failing` says of each target of anchors that did not take one why.
    """

    backups: BackupState | None
    anchored_at: Instant | None
    has_grown: bool
    failing: Mapping[str, str]


async def read_facts(reader: Reader, config: Config) -> OutsideFacts:
    """Read the facts."""
    last = await anchors.find_last_time(reader)
    targets = [name_target(each) for each in config.audit.anchor_to]
    failing = await anchors.find_failing(reader, targets)
    if OWNERS in targets and OWNERS not in failing and (unmailed := await count_unmailed(reader)):
        failing[OWNERS] = f"no mail server took the last anchor for {unmailed} of them"
    return OutsideFacts(
        await backup_schedule.find(reader),
        last[1] if last else None,
        bool(await anchors.find_grown(reader, 1)),
        failing,
    )


def check_backups(config: Config, facts: OutsideFacts, now: Instant) -> CheckLine:
    """Return the line about the backups that the server makes by itself."""
    state, remedy = facts.backups, "See the page Backup of the settings, and docs/backup.md."
    if config.backup.to is None:
        return CheckLine(
            "backups", CheckState.OK, "the server makes none by itself; backup.to has it make some"
        )
    words = NONE_YET
    if state is not None and state.made_at is not None:
        words = f"the last good one is {state.name}, of {rfc3339(state.made_at)}"
    if state is None or not (state.failures or find_late(state, config.backup, now)):
        return CheckLine("backups", CheckState.OK, words)
    tries = [f"{state.failures} tries failed since, the last one: {state.problem}"] if state.failures else []
    return CheckLine("backups", CheckState.WARNING, words, remedy, tries)


def check_anchor_targets(config: Config, facts: OutsideFacts, now: Instant) -> CheckLine:
    """Return the line about the newest anchor and the targets that anchors go to."""
    remedy = "See the log of the server, and docs/audit.md."
    made = (
        f"the last anchor is of {rfc3339(facts.anchored_at)}"
        if facts.anchored_at
        else "there is no anchor yet"
    )
    if facts.failing:
        words = f"{made}; {len(facts.failing)} of {len(config.audit.anchor_to)} targets did not take what they lack"
        findings = [f"{target}: {reason}" for target, reason in facts.failing.items()]
        return CheckLine("anchor_targets", CheckState.WARNING, words, remedy, findings)
    if facts.has_grown and facts.anchored_at is not None and now - facts.anchored_at > LATE_ANCHOR:
        words = f"{made}, and audit trails have grown since"
        return CheckLine("anchor_targets", CheckState.WARNING, words, remedy)
    if not config.audit.anchor_to:
        return CheckLine("anchor_targets", CheckState.OK, f"{made}; audit.anchor_to names no target outside")
    return CheckLine("anchor_targets", CheckState.OK, f"{made}; no target has refused one")
