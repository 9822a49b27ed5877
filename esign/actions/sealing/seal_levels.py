"""Which level a seal is made at: with a time stamp where that is asked for, and without one only where that is said."""

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
    """Where the time in seals comes from: `waits` or completes without where no authority answers; `tested`: in test
    mode, too."""

    level: Level
    waits: bool
    tested: bool
    authorities: tuple[Authority, ...]

    @property
    def wanted(self) -> bool:
        return self.level != "B-B"

    @property
    def silent(self) -> bool:
        """Whether each of them failed when it was asked last."""
        return self.wanted and all(each.error is not None for each in self.authorities)


def state(runtime: Runtime) -> State:
    seal, tested = runtime.config.seal, runtime.config.test.time_stamps
    return State(seal.level, seal.tsa_outage == "wait", tested, runtime.tsa.authorities)


def asked(runtime: Runtime, mode: Mode) -> Level:
    """Test seals have no time stamps unless the configuration wants them: they may cost money."""
    live_like = mode is Mode.LIVE or runtime.config.test.time_stamps
    return runtime.config.seal.level if live_like else "B-B"


async def make(runtime: Runtime, order: SealOrder, mode: Mode, turn: Turn) -> Made:
    """Sealed at the level of the settings; without a time stamp where there is none and the settings allow it.

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
    """In two jobs of a worker, with the answers of an authority between them."""
    credential = runtime.credentials[mode]
    hosts = tuple(each.host for each in runtime.tsa.authorities)
    runtime.tsa.require()
    wanted = replace(order, level="B-T", asked="B-T", authorities=hosts)
    begun: Begun = await runtime.pdf.ask("begin", Begun, wanted, credential, turn=turn)
    stamps = await runtime.tsa.stamp([begun.document.signature, begun.certificate.signature])
    tokens = [stamp.token for stamp in stamps]
    sealed: Sealed = await runtime.pdf.ask("finish", Sealed, begun, tokens, credential, turn=turn)
    return Made(sealed, "B-T", stamps[0])
