"""Chooses the level of a seal. A missing time stamp lowers the level only if the configuration allows it."""

from dataclasses import dataclass, replace

from esign.core.actor import Mode
from esign.core.sentence import say
from esign.core.timestamp import TimeStamp, TimeStampAuthority
from esign.pdf.seal_order import Level, SealedFiles, SealOrder
from esign.pdf.worker.queue_turn import QueueTurn
from esign.runtime import Runtime
from esign.tsa import NoTimeStamp


@dataclass(frozen=True, slots=True)
class SealResult:
    """The sealed files, the level that was asked for, and the time stamp in the seal of the document."""

    sealed: SealedFiles
    asked: Level
    stamp: TimeStamp | None = None


@dataclass(frozen=True, slots=True)
class TimeStampState:
    """How seals get their time stamps.

    `waits` says whether a seal waits if no authority answers; otherwise it completes without a time stamp.
    `tested` says whether seals of test mode get time stamps too.
    """

    level: Level
    waits: bool
    tested: bool
    authorities: tuple[TimeStampAuthority, ...]

    @property
    def is_wanted(self) -> bool:
        """Return whether the configuration asks for time stamps."""
        return self.level != "B-B"

    @property
    def silent(self) -> bool:
        """Return whether every authority failed when it was last asked."""
        return self.is_wanted and all(each.error is not None for each in self.authorities)


def read_state(runtime: Runtime) -> TimeStampState:
    """Return how seals get their time stamps now."""
    seal, tested = runtime.config.seal, runtime.config.test.time_stamps
    return TimeStampState(seal.level, seal.tsa_outage == "wait", tested, runtime.tsa.authorities)


def choose_level(runtime: Runtime, mode: Mode) -> Level:
    """Return the level to seal at. Test seals have no time stamps unless configured: they may cost money."""
    live_like = mode is Mode.LIVE or runtime.config.test.time_stamps
    return runtime.config.seal.level if live_like else "B-B"


def explain_error(reason: str) -> str:
    """Return the reason of a failed seal as a sentence.

    A worker describes its own end with a clause that begins with "it" and has no full stop.
    """
    bare = reason.strip()
    if bare.startswith("it "):
        return say("The program that draws the seal stopped: {reason}.", reason=bare)
    return bare if bare.endswith((".", "!", "?")) else say("{error}.", error=bare)


async def make_seal(runtime: Runtime, order: SealOrder, mode: Mode, turn: QueueTurn) -> SealResult:
    """Seal at the configured level. If no time stamp is to be had and the configuration allows it, seal without one.

    Raises what the workers raise, and `NoTimeStamp`.
    """
    if choose_level(runtime, mode) == "B-B":
        return SealResult(await runtime.pdf.seal(order, runtime.credentials[mode], turn), "B-B")
    try:
        return await _make_stamped_seal(runtime, order, mode, turn)
    except NoTimeStamp:
        if runtime.config.seal.tsa_outage == "wait":
            raise
        lower = replace(order, asked="B-T")
        return SealResult(await runtime.pdf.seal(lower, runtime.credentials[mode], turn), "B-T")


async def _make_stamped_seal(runtime: Runtime, order: SealOrder, mode: Mode, turn: QueueTurn) -> SealResult:
    """Seal with a time stamp, in two jobs of a worker. The authority answers between them."""
    credential = runtime.credentials[mode]
    hosts = tuple(each.host for each in runtime.tsa.authorities)
    runtime.tsa.require_answering()
    wanted = replace(order, level="B-T", asked="B-T", authorities=hosts)
    begun = await runtime.pdf.begin_seal(wanted, credential, turn)
    stamps = await runtime.tsa.stamp_signatures([begun.document.signature, begun.certificate.signature])
    tokens = [stamp.token for stamp in stamps]
    sealed = await runtime.pdf.finish_seal(begun, tokens, credential, turn)
    return SealResult(sealed, "B-T", stamps[0])
