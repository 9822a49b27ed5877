"""Raise the number of files and connections that this process may have open at once."""

import resource

NEEDED = 1_500  # 1,200 connections of visitors, 64 deliveries, mail, PDF workers, the database
FEWEST = 256  # with fewer, a handful of browsers would keep the database from opening its files


class TooFewDescriptors(Exception):
    """The process may open too few files to work; the message says what to do."""


def raise_limit() -> str | None:
    """Raise the soft limit as far as NEEDED. Return a warning if it stays below, or None.

    Raises `TooFewDescriptors` if even FEWEST are not allowed.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = NEEDED if hard == resource.RLIM_INFINITY else min(NEEDED, hard)
    if soft != resource.RLIM_INFINITY and soft < allowed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
        soft = allowed
    if soft == resource.RLIM_INFINITY or soft >= NEEDED:
        return None
    told = (
        f"this process may open {soft} files at once, and {NEEDED} are needed for 1,000 connections;"
        " raise the limit (LimitNOFILE= in systemd, --ulimit nofile= in Docker)"
    )
    if soft < FEWEST:
        raise TooFewDescriptors(told)
    return told
