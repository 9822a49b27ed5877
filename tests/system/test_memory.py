"""What the serving process keeps of memory that is free again, and when it looks for cyclic garbage."""

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


COLLECTION = """
import gc
from esign.system import memory
memory.pause_collection()
assert not gc.isenabled()
memory.resume_collection()
assert gc.isenabled() and gc.get_freeze_count() > 1_000
class Loop: pass
for _ in range(5_000):
    loop = Loop()
    loop.itself = loop
print(sum(isinstance(one, Loop) for one in gc.get_objects()))
"""


def test_garbage_is_collected_again_after_the_start() -> None:
    said = subprocess.run([sys.executable, "-c", COLLECTION], capture_output=True, text=True, check=True)
    assert int(said.stdout) < 2_500
