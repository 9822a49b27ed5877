"""Fixtures of all tests: a real database in a folder of its own, a vault, and a clock that stands still."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from esign.core.people.account import Organisation
from esign.store.engine.connections import FILE, open_for_command
from esign.store.engine.database import Database
from esign.system.vault import Vault
from tests.factories import an_organisation, store_organisation
from tests.fakes import FakeClock, FakeMailbox
from tests.pristine import lay_database

CORPUS = Path(__file__).parents[1].parent / "shared" / "corpus"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Only tests marked `corpus` may be left out, and only where the corpus is absent."""
    if not CORPUS.is_dir():
        for item in items:
            if item.get_closest_marker("corpus"):
                item.add_marker(pytest.mark.skip(reason=f"there is no corpus at {CORPUS}"))


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of real PDFs with its manifest; for tests marked `corpus`."""
    return CORPUS


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def mailbox() -> FakeMailbox:
    return FakeMailbox()


@pytest.fixture
def vault() -> Vault:
    return Vault(bytes(range(32)))


@pytest.fixture
async def db(tmp_path: Path) -> AsyncIterator[Database]:
    """An empty database of the newest schema."""
    lay_database(tmp_path / FILE)
    async with open_for_command(tmp_path / FILE) as database:
        yield database


@pytest.fixture
async def organisation(db: Database) -> Organisation:
    """The organisation that `a_document` belongs to, in the database."""
    return await store_organisation(db, an_organisation())
