"""The benches can be started, and their client sends what it is given. Nothing here depends on speed."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from tests.bench import __main__, door, drive, installation, table
from tests.bench.dense import make_distinct_pdfs

FOLDER = Path(__file__).parent / "bench"


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.py")))
def test_every_module_of_the_benches_is_imported(name: str) -> None:
    import_module(f"tests.bench.{name}")


def test_the_benches_are_listed_to_a_caller_who_names_none() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "tests.bench"],
        cwd=FOLDER.parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 1 and not ran.stdout
    for name in (*__main__.TABLES, *__main__.BENCHES, *door.ROWS):
        assert name in ran.stderr


async def test_an_unknown_row_is_answered_with_those_there_are() -> None:
    with pytest.raises(SystemExit, match=r"No row is called speed\. There are: create-2, "):
        await table.print_table(door.ROWS, ["get", "speed"])


async def test_each_prepared_request_is_sent_once_and_answered() -> None:
    requests = [
        f"POST /{n} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {n}\r\n\r\n".encode() + bytes(n)
        for n in (0, 1, 70_000)
    ]
    async with drive.serve_hello() as port, drive.open_requests(requests) as file:
        result = await drive.drive_requests(port, file, connections=2, accepted=["201"])
        assert result.count == len(requests) and result.p99 >= result.median > 0
        with pytest.raises(RuntimeError, match="201"):
            await drive.drive_requests(port, file, accepted=["200"])


async def test_a_paced_request_is_sent_again_and_again() -> None:
    async with (
        drive.serve_hello() as port,
        drive.open_requests([b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"]) as file,
    ):
        result = await drive.drive_requests(port, file, connections=2, seconds=0.05, every=0.01)
    assert result.count == 6


PARENT = """
import resource, subprocess, sys
subprocess.run([sys.executable, "-c", "sum(range(10**7))"], check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, flush=True)
sys.stdin.read()
"""


def test_the_time_of_a_worker_that_ended_counts_as_that_of_the_workers() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout
        spent = float(server.stdout.readline())
        assert installation.read_workers_time(server.pid) == pytest.approx(spent, abs=0.021)
        assert installation.read_processor_time(server.pid) < spent
        server.communicate()


def test_no_two_dense_files_are_the_same() -> None:
    assert len({*make_distinct_pdfs(1, 4, first=10)}) == 4
