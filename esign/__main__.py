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
elif frozen.is_content_check(sys.argv):
    from esign.actions.server.content_process import run_content_check

    run_content_check()
elif frozen.is_read_back(sys.argv):
    from esign.backup.read_back import run_read_back

    run_read_back()
else:
    if frozen.is_frozen():
        frozen.choose_trust_store(os.environ, frozen.find_bundled_authorities())
    from esign.cli import main

    main()
