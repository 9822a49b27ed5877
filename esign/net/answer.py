"""How one outbound HTTP request ends: with an answer, refused before anything was sent, or failed without an answer.

The first is a value, the others are exceptions. `outbound` and `direct_client` return and raise them.
"""

from collections.abc import Mapping
from dataclasses import dataclass

TOO_LATE = "timeout: no answer within the time allowed"


@dataclass(frozen=True, slots=True)
class EndpointAnswer:
    """The answer of the endpoint: header names in lower case, at most 1 KiB of the body."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    duration_ms: int


class TargetRefused(Exception):
    """The target, or an address of its name, is one that webhooks may not reach: nothing was sent."""


class RequestFailed(Exception):
    """There was no answer; the message is a word and a sentence, without addresses."""
