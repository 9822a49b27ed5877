"""Logs why a background task failed this time."""

import logging

from esign.core.errors import Problem
from esign.store.engine.failures import is_storage

log = logging.getLogger("esign.jobs")


def log_trouble(what: str, error: Exception) -> None:
    """Log a refusal of the disk or the database in one sentence, and an unforeseen error with its traceback."""
    if isinstance(error, Problem):
        log.warning("%s had to wait: %s", what, error.message)
    elif is_storage(error):
        log.error("%s failed: %s; check the disk and, with esign doctor, the database", what, error)
    else:
        log.error("%s failed", what, exc_info=error)
