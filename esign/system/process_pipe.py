"""Writes to the input of another process."""

from asyncio import StreamWriter


def write_to_process(pipe: StreamWriter, content: bytes) -> None:
    """Write to the input of a process; raise BrokenPipeError if it is closed, because the process has ended.

    Without this, uvloop raises RuntimeError there, and the loop of the standard library loses the bytes.
    """
    if pipe.is_closing():
        raise BrokenPipeError("the process has ended")
    pipe.write(content)
