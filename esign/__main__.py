"""`python -m esign` is the `esign` command, and so is the one file that contains all of it."""

import os
import sys

from esign.system import frozen

if frozen.is_worker(sys.argv):
    from esign.pdf.worker.worker import run_worker

    run_worker()
elif frozen.is_signer(sys.argv):
    from esign.pdf.signer.signer import run_signer

    run_signer()
else:
    if frozen.is_frozen():
        frozen.choose_trust_store(os.environ, frozen.find_bundled_authorities())
    from esign.cli import main

    main()
