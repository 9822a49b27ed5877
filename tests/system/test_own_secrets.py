"""What other processes see of a process that hides its own secrets."""

import os
import subprocess
import sys

HIDE = """
import os
from pathlib import Path
from esign.system import own_secrets
own_secrets.hide_own_secrets()
print(Path("/proc/self/environ").read_text().replace("\\0", "\\n"))
print(os.environ["ESIGN_MAIL__PASSWORD"], Path("/proc/self/mem").stat().st_uid, sep="\\n")
"""


def test_values_of_our_variables_are_gone_from_the_process_and_others_stay() -> None:
    given = {
        **os.environ,
        "ESIGN_MAIL__PASSWORD": "hunter22=hunter",
        "ESIGN_EMPTY": "",
        "OTHER": "ESIGN_=plain",
    }
    ran = subprocess.run([sys.executable, "-c", HIDE], env=given, capture_output=True, text=True, check=True)
    *shown, kept, owner = ran.stdout.splitlines()
    assert {"ESIGN_MAIL__PASSWORD=xxxxxxxxxxxxxxx", "ESIGN_EMPTY=", "OTHER=ESIGN_=plain"} <= set(shown)
    assert (kept, owner) == ("hunter22=hunter", "0"), "the program itself still has it"
