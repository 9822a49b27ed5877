"""Asks the kernel whether something keeps its clock right, such as NTP."""

import ctypes
from contextlib import suppress

UNSYNCHRONISED = 5  # TIME_ERROR of adjtimex(2)
ROOM = 256  # bytes, more than any `struct ntptimeval`


def is_clock_synchronised() -> bool | None:
    """Return whether the kernel's clock is synchronised, or None where that is not known."""
    with suppress(OSError, AttributeError):
        state = ctypes.CDLL(None).ntp_gettime(ctypes.create_string_buffer(ROOM))
        return None if state < 0 else state != UNSYNCHRONISED
    return None
