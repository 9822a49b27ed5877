"""How an attempt ends: with an answer, refused before anything was sent, or failed."""

from collections.abc import Mapping
from dataclasses import dataclass

TOO_LATE = "timeout: no answer within the time allowed"


@dataclass(frozen=True, slots=True)
class Answer:
    """What the endpoint said: header names in lower case, at most 1 KiB of the body."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    duration_ms: int


class Refused(Exception):
    """The target, or an address its name leads to, is none that webhooks may reach: nothing was sent."""


class Failed(Exception):
    """No answer; the reason is a word and a sentence, without addresses."""
