"""Find out whether what is acknowledged is kept: python -m tests.reliability NAME [OPTIONS]"""

import sys
from importlib import import_module

COMMANDS = {  # the module of each name, which has a function `main` of the arguments that returns the exit code
    "bodies": "bodies",
    "litestream": "litestream",
}


def main() -> int:
    """Run the named command; without a known name, list them."""
    name, *rest = sys.argv[1:] or [""]
    if name not in COMMANDS:
        print(__doc__, "\n\nNAME is one of:", *COMMANDS, file=sys.stderr)
        return 2
    return int(import_module(f"tests.reliability.{COMMANDS[name]}").main(rest))


sys.exit(main())
