"""Measure how much is lost or missed under faults: python -m tests.reliability NAME [OPTIONS]"""

import sys
from importlib import import_module

MODULES = {
    "audit": "tests.reliability.audit_tampering",
}

if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in MODULES:
        sys.exit(f"python -m tests.reliability NAME; NAME is one of {', '.join(sorted(MODULES))}")
    sys.exit(import_module(MODULES[sys.argv[1]]).main(sys.argv[2:]))
