"""Lets Ctrl-C end what waits for a person who types, also inside an event loop."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def interrupt_at_once() -> Iterator[None]:
    """Let the first Ctrl-C raise KeyboardInterrupt in the block, which reads from a terminal.

    An event loop only cancels its task at the first one, which a blocking read does not notice: it would take two.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before in (signal.SIG_IGN, None):
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    except KeyboardInterrupt:
        sys.stderr.write("\n")  # the question has no end of line
        raise
    finally:
        signal.signal(signal.SIGINT, before)
