"""Chooses the level of a seal. A missing time stamp lowers the level only if the configuration allows it."""

from dataclasses import dataclass, replace

from esign.core.actor import Mode
from esign.core.timestamp import Authority, TimeStamp
from esign.pdf.seal_order import Begun, Level, Sealed, SealOrder
from esign.pdf.worker.queue_turn import Turn
from esign.runtime import Runtime
from esign.tsa import NoTimeStamp


@dataclass(frozen=True, slots=True)
class Made:
    """The sealed files, the level that was asked for, and the time stamp in the seal of the document."""

    sealed: Sealed
    asked: Level
    stamp: TimeStamp | None = None


@dataclass(frozen=True, slots=True)
class State:
    """How seals get their time stamps.

    `waits` says whether a seal waits if no authority answers; otherwise it completes without a time stamp.
    `tested` says whether seals of test mode get time stamps too.
    """

    level: Level
    waits: bool
    tested: bool
    authorities: tuple[Authority, ...]

    @property
    def wanted(self) -> bool:
        """Return whether the configuration asks for time stamps."""
        return self.level != "B-B"

    @property
    def silent(self) -> bool:
        """Return whether every authority failed when it was last asked."""
        return self.wanted and all(each.error is not None for each in self.authorities)


def state(runtime: Runtime) -> State:
    """Return how seals get their time stamps now."""
    seal, tested = runtime.config.seal, runtime.config.test.time_stamps
    return State(seal.level, seal.tsa_outage == "wait", tested, runtime.tsa.authorities)


def asked(runtime: Runtime, mode: Mode) -> Level:
    """Return the level to seal at. Test seals have no time stamps unless configured: they may cost money."""
    live_like = mode is Mode.LIVE or runtime.config.test.time_stamps
    return runtime.config.seal.level if live_like else "B-B"


async def make(runtime: Runtime, order: SealOrder, mode: Mode, turn: Turn) -> Made:
    """Seal at the configured level. If no time stamp is to be had and the configuration allows it, seal without one.

    Raises what the workers raise, and `NoTimeStamp`.
    """
    if asked(runtime, mode) == "B-B":
        return Made(await runtime.pdf.seal(order, runtime.credentials[mode], turn), "B-B")
    try:
        return await _stamped(runtime, order, mode, turn)
    except NoTimeStamp:
        if runtime.config.seal.tsa_outage == "wait":
            raise
        lower = replace(order, asked="B-T")
        return Made(await runtime.pdf.seal(lower, runtime.credentials[mode], turn), "B-T")


async def _stamped(runtime: Runtime, order: SealOrder, mode: Mode, turn: Turn) -> Made:
    """Seal with a time stamp, in two jobs of a worker. The authority answers between them."""
    credential = runtime.credentials[mode]
    hosts = tuple(each.host for each in runtime.tsa.authorities)
    runtime.tsa.require()
    wanted = replace(order, level="B-T", asked="B-T", authorities=hosts)
    begun: Begun = await runtime.pdf.ask("begin", Begun, wanted, credential, turn=turn)
    stamps = await runtime.tsa.stamp([begun.document.signature, begun.certificate.signature])
    tokens = [stamp.token for stamp in stamps]
    sealed: Sealed = await runtime.pdf.ask("finish", Sealed, begun, tokens, credential, turn=turn)
    return Made(sealed, "B-T", stamps[0])
