"""What gives way to the server has a lower priority, as have the processes that it starts, and never gets it back."""

import json
import os
import subprocess
import sys

SHOW = "os.getpriority(os.PRIO_PROCESS, 0)"
BEGIN = "import json, os, subprocess, sys; from esign.system.idle_priority import become_idle, give_way;"


def show(program: str) -> list[int]:
    """Run a program that prints a list of priorities; return it."""
    shown: list[int] = json.loads(subprocess.check_output([sys.executable, "-c", BEGIN + program], text=True))
    return shown


def test_a_process_that_gives_way_stays_above_an_idle_one() -> None:
    now = os.getpriority(os.PRIO_PROCESS, 0)
    assert show(f"give_way(); a = {SHOW}; become_idle(); b = {SHOW}; give_way(); print([a, b, {SHOW}])") == [
        max(now, 10),
        19,
        19,
    ]
