"""What the program says while it serves: JSON lines for machines, plain lines on a terminal."""

import asyncio
import logging
import sys
from typing import TextIO

import orjson

from esign.core.instant import rfc3339


class JsonLines(logging.Formatter):
    """One JSON object a line; the access log writes its own."""

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
    """What the end of the program cuts off is no failure, though the scheduler calls it one."""
    return not (record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError))


def set_up(stream: TextIO = sys.stderr, level: int = logging.INFO) -> None:
    """Once per program, by the command that serves; of the libraries only warnings and errors are told."""
    lines = logging.StreamHandler(stream)
    lines.setFormatter(logging.Formatter("%(message)s") if stream.isatty() else JsonLines())
    lines.addFilter(is_worth_telling)
    logging.getLogger().addHandler(lines)
    logging.getLogger("esign").setLevel(level)
    logging.getLogger("python_multipart").setLevel(logging.ERROR)  # a form that is cut is its sender's affair
