"""Configure logging of the server: JSON lines for machines, plain lines on a terminal."""

import asyncio
import logging
import sys
from typing import TextIO

import orjson

from esign.core.instant import rfc3339


class JsonLines(logging.Formatter):
    """One JSON object per line; the access log formats its own."""

    def format(self, record: logging.LogRecord) -> str:
        if record.name == "esign.access":
            return record.getMessage()
        line = {
            "at": rfc3339(int(record.created * 1000)),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return orjson.dumps(line).decode()


def is_worth_telling(record: logging.LogRecord) -> bool:
    """Return whether a record should be logged: work cancelled at the end of the program is no failure."""
    return not (record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError))


def set_up_logs(stream: TextIO = sys.stderr) -> None:
    """Configure logging once, by the command that serves. Libraries log only warnings and errors."""
    lines = logging.StreamHandler(stream)
    lines.setFormatter(logging.Formatter("%(message)s") if stream.isatty() else JsonLines())
    lines.addFilter(is_worth_telling)
    logging.getLogger().addHandler(lines)
    logging.getLogger("esign").setLevel(logging.INFO)
    logging.getLogger("python_multipart").setLevel(
        logging.ERROR
    )  # a truncated form is a problem of its sender
