"""Whole servers for the journeys: one in this process whose clock stands still, one as a process of its own."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.fakes import FakeClock
from tests.journeys.program import Program, Ran, configuration, esign
from tests.journeys.receiver import Receiver, receiving
from tests.journeys.site import JourneySite, a_site
from tests.steady import pytest_asyncio_loop_factories as pytest_asyncio_loop_factories  # a hook


@pytest.fixture
async def site(tmp_path: Path, clock: FakeClock) -> AsyncIterator[JourneySite]:
    """A server whose mails are kept; time passes and jobs run only when a test says so."""
    async with a_site(tmp_path / "data", clock) as site:
        yield site


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    """A webhook receiver that takes everything until it is told otherwise."""
    async with receiving() as receiver:
        yield receiver


@pytest.fixture
async def program(tmp_path: Path) -> AsyncIterator[Program]:
    """A served installation, killed at the end."""
    program = Program(configuration(tmp_path))
    await program.start()
    yield program
    if program.process.returncode is None:
        await program.kill()


@dataclass(frozen=True)
class Demonstration:
    """One whole run of `esign demo --exit`, and the folder of its results."""

    ran: Ran
    folder: Path

    @property
    def config(self) -> Path:
        return self.folder / "esign.toml"

    def file(self, name: str) -> Path:
        return self.folder / name


@pytest.fixture(scope="session")
def demonstration(tmp_path_factory: pytest.TempPathFactory) -> Demonstration:
    """Made once: the tests only look at it."""
    folder = tmp_path_factory.mktemp("demonstration") / "results"
    return Demonstration(esign("demo", "--exit", "--into", folder), folder)
