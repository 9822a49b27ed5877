"""Starting: `esign --version` against a bare interpreter, and the time to the first 200."""

import statistics
import subprocess
import sys
import time

from tests.bench.installation import install_program

ROUNDS = 15


def time_start(*command: str) -> float:
    began = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - began


async def run() -> None:
    bare, version = [], []
    for _ in range(ROUNDS):
        bare.append(time_start(sys.executable, "-c", "pass"))
        version.append(time_start(sys.executable, "-m", "esign", "--version"))
    ratio = statistics.median(version) / statistics.median(bare)
    print(f"python -c pass    {1000 * statistics.median(bare):8.1f} ms")
    print(f"esign --version   {1000 * statistics.median(version):8.1f} ms   {ratio:.1f} x   (at most 8 x)")
    first = []
    for _ in range(5):
        async with install_program() as installation:
            first.append(installation.first_answer)
    print(f"first 200         {statistics.median(first):8.2f} s          (at most 1.5 s)")
