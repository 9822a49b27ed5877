"""What it costs that a creation is on the disk before it is answered: `python -m tests.bench durability`.

Two installations create the same documents in turns, one with `synchronous = FULL` as always, one with NORMAL, which
does not wait for the disk and loses answered documents in a power cut.
"""

import statistics

from tests.bench.creating import WARM, FileSource
from tests.bench.installation import make_installation, serve_program
from tests.bench.table import describe_machine

CLIENTS = 32
ROUNDS = 7
DOCUMENTS = 320  # in each round
MOST = 1.5
WEAK = "tests.reliability.serve_normal"


async def run() -> None:
    """Print the median answer of both, and their ratio."""
    print(describe_machine())
    full, normal = list[float](), list[float]()
    async with (
        make_installation() as one,
        make_installation() as other,
        serve_program(*one) as strong,
        serve_program(*other, module=WEAK) as weak,
    ):
        sources = [(full, FileSource(strong, 2)), (normal, FileSource(weak, 2))]
        for _, source in sources:
            await source.send(WARM)
        for turn in range(ROUNDS):
            for medians, source in sources if turn % 2 else reversed(sources):
                medians.append((await source.send(DOCUMENTS, CLIENTS)).median)
    ratio = statistics.median(a / b for a, b in zip(full, normal, strict=True))
    print(f"a creation of 2 dense pages, {CLIENTS} clients, {ROUNDS} rounds of {DOCUMENTS}, medians of p50:")
    print(f"FULL {statistics.median(full):.1f} ms, NORMAL {statistics.median(normal):.1f} ms")
    print(f"ratio {ratio:.2f}, at most {MOST}{'' if ratio <= MOST else ' MISSED'}")
