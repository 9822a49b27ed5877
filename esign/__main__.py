"""`python -m esign` is the `esign` command, and so is the one file that contains all of it."""

import os
import sys

from esign.system import frozen
from esign.system.frozen import Child

child = frozen.find_child(sys.argv)
if child is Child.WORKER:
    from esign.pdf.worker.worker import run_worker

    run_worker()
elif child is Child.SIGNER:
    from esign.pdf.signer.signer import run_signer

    run_signer()
elif child is Child.CONTENT_CHECK:
    from esign.actions.server.content_process import run_content_check

    run_content_check()
elif child is Child.COPY_CHECK:
    from esign.cli.check_beside import run_copy_check

    run_copy_check()
else:
    if frozen.is_frozen():
        frozen.choose_trust_store(os.environ, frozen.find_bundled_authorities())
    from esign.cli import main

    main()
