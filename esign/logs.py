"""What the program says while it serves: JSON lines for machines, plain lines on a terminal."""

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


def set_up(stream: TextIO = sys.stderr, level: int = logging.INFO) -> None:
    """Once per program, by the command that serves."""
    lines = logging.StreamHandler(stream)
    lines.setFormatter(logging.Formatter("%(message)s") if stream.isatty() else JsonLines())
    root = logging.getLogger("esign")
    root.addHandler(lines)
    root.setLevel(level)
