"""The kind and the caller of a PDF job, by which the queue in front of the workers orders."""

from asyncio import Future
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import IntEnum

STRANGERS = "strangers"
"""The tenant of all callers who are not signed in and have no signing link."""


class PdfJobKind(IntEnum):
    """The class of a job; a lower number goes first.

    `ACT` is what signing and sending need and small whatever the file: a signature's picture, a check of texts.
    `PREVIEW` is what changes nothing: pages, fields found in a file, a file that a member verifies.
    """

    SEAL = 0
    ACT = 1
    UPLOAD = 2
    PREVIEW = 3
    STRANGER = 4


CPU_SECONDS: Mapping[PdfJobKind, int] = {
    PdfJobKind.SEAL: 50,
    PdfJobKind.ACT: 10,
    PdfJobKind.UPLOAD: 20,
    PdfJobKind.PREVIEW: 10,
    PdfJobKind.STRANGER: 5,
}
"""Seconds of processor time that one job may use, unless its `QueueTurn` names another limit.

A seal may use more than twice what an upload may, because it does twice what the upload has tried once: it reads the
file, and draws each page that has fields as it was and as it is. So what was taken at the door can be sealed.
"""
DROPPED = frozenset({PdfJobKind.UPLOAD, PdfJobKind.PREVIEW, PdfJobKind.STRANGER})
"""Kinds whose jobs are dropped when the caller no longer waits for the answer.

`ACT` is not among them: a recipient who finished signing and closed the page has signed.
"""


@dataclass(frozen=True, slots=True)
class JobCaller:
    """The request that a job belongs to: the name of its sender, and a future that is done when its connection
    is lost.
    """

    name: str = ""
    gone: "Future[None] | None" = None


CALLER: ContextVar[JobCaller] = ContextVar("caller", default=JobCaller())  # noqa: B039  (it is frozen)


def name_caller(name: str) -> None:
    """Note in this request's context which key or member sent it."""
    CALLER.set(JobCaller(name, CALLER.get().gone))


def note_connection(gone: "Future[None] | None") -> None:
    """Note in this request's context that its jobs are dropped when `gone` is done.

    Each request runs in a task of its own, whose context ends with it.
    """
    CALLER.set(JobCaller(gone=gone))


@dataclass(frozen=True, slots=True)
class QueueTurn:
    """A job's place in the queue: its kind, its organisation, and the key, member, link or network that asks.

    `source` defaults to the caller of the request. `cpu_seconds` replaces the limit of the kind.
    """

    kind: PdfJobKind = PdfJobKind.UPLOAD
    tenant: str = ""
    source: str = field(default_factory=lambda: CALLER.get().name)
    cpu_seconds: int | None = None

    @property
    def party(self) -> tuple[str, str, bool]:
        """Return what shares places with each other; the seals of an organisation count separately from its
        other jobs.
        """
        return (
            self.tenant,
            "" if self.kind is PdfJobKind.SEAL else self.source,
            self.kind is PdfJobKind.SEAL,
        )
