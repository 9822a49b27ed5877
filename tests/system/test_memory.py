"""What the serving process keeps of memory that is free again."""

import subprocess
import sys

WORK = """
import re, sys, threading
from esign.system import memory
if sys.argv[1] == "serving":
    memory.set_up_memory()
everybody = threading.Barrier(5)
def work():
    blocks = [bytes(100_000) for _ in range(20)]
    everybody.wait()
    everybody.wait()
for _ in range(4):
    threading.Thread(target=work).start()
everybody.wait()
print(re.search(r"VmSize:\\s+(\\d+)", open("/proc/self/status").read())[1])
everybody.wait()
"""


def measure_mapped(how: str) -> int:
    """KiB of address space of a program with four threads that hold 2 MB each."""
    said = subprocess.run([sys.executable, "-c", WORK, how], capture_output=True, text=True, check=True)
    return int(said.stdout)


def test_threads_share_what_is_free() -> None:
    assert measure_mapped("serving") < measure_mapped("left alone") - 100_000, (
        "an arena of its own takes each 64 MiB"
    )
