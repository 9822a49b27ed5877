"""The quick form of `esign doctor`, at each start and once a day: no file is read, and no table is walked through."""

import logging
from collections.abc import Iterable

from esign.actions.server import settings_checks
from esign.actions.server.data_checks import describe_quickly, inspect_quickly
from esign.actions.server.diagnosis import CheckLine, CheckState
from esign.config import Config
from esign.core.instant import Instant

log = logging.getLogger("esign.doctor")

LEVELS = {CheckState.WARNING: logging.WARNING, CheckState.WRONG: logging.ERROR}


def log_findings(config: Config, now: Instant) -> int:
    """Log what is not as it should be, and return the number of lines. Blocks for some milliseconds."""
    found = [line for line in list_lines(config, now) if line.state in LEVELS]
    for line in found:
        findings = f" ({'; '.join(line.findings[:3])})" if line.findings else ""
        log.log(
            LEVELS[line.state],
            "%s: %s%s. %s",
            line.check,
            line.words,
            findings,
            line.remedy or "See esign doctor.",
        )
    return len(found)


def list_lines(config: Config, now: Instant) -> Iterable[CheckLine]:
    """Yield the lines of all quick checks."""
    yield from settings_checks.check_quickly(config)
    yield from describe_quickly(inspect_quickly(config.storage.data_dir, now))
