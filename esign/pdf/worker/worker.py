"""The worker process: `python -I -m esign.pdf.worker.worker`, with jobs on stdin and answers on stdout."""

import logging
import os
import sys
import traceback
from collections.abc import Callable, Mapping
from importlib import import_module
from inspect import signature
from typing import Any, BinaryIO, get_type_hints

from esign.core.errors import Problem
from esign.pdf.seal_order import SealFailed
from esign.pdf.worker import frames, sandbox

# Each task names the function that does the work; its annotations declare what crosses the pipe. Imported on first use.
TASKS: Mapping[str, str] = {
    "inspect": "esign.pdf.intake.inspect:inspect",
    "seal": "esign.pdf.seal.seal:seal",
    "begin": "esign.pdf.seal.seal:begin",
    "finish": "esign.pdf.seal.seal:finish",
    "verify": "esign.pdf.verify.validate:verify",
    "sources": "esign.pdf.verify.revocation_sources:sources",
    "reencode": "esign.pdf.drawing.signature_picture:reencode",
    "logo": "esign.pdf.drawing.logo:redraw",
    "letters": "esign.pdf.drawing.typed_signature:letters",
    "missing": "esign.pdf.drawing.glyphs:missing_with_system",
    "unfit": "esign.pdf.drawing.overlay:unfit",
    "sharper": "esign.pdf.page.render:sharper",
    "filled": "esign.pdf.drawing.filled_page:picture",
    "read": "esign.pdf.page.page_text:read",
    "blanks": "esign.pdf.fields.detect_fields:find",
}

# PDF libraries keep some memory of every file: a worker that has grown so large, or is old, makes room for another.
LARGEST, OLDEST = 250 * sandbox.MEBIBYTE, 500


def main(tasks: Mapping[str, str] = TASKS) -> None:
    """Answer jobs one after the other until the pipe closes or the worker is too old or too large."""
    sandbox.confine()
    logging.disable(logging.CRITICAL)  # the answer contains what libraries report about the file
    with os.fdopen(os.dup(0), "rb") as asked, os.fdopen(os.dup(1), "wb") as answered:
        # Output that libraries print must not end up among the answers.
        os.dup2(2, 1)
        _say(answered, {"ready": True})
        for age in range(1, OLDEST + 1):
            if _turn(tasks, asked, answered, age):
                return


def _turn(tasks: Mapping[str, str], asked: BinaryIO, answered: BinaryIO, age: int) -> bool:
    """Do one job, and return whether it was the last.

    This is a function of its own so that the file and the answer are freed before the next job comes.
    """
    frame = frames.read(asked)
    if frame is None:
        return True
    answer = _answer(tasks, *frame)
    last = age == OLDEST or "memory" in answer or sandbox.resident() > LARGEST
    _say(answered, {**answer, "last": last})
    return last


def _say(answered: BinaryIO, body: dict[str, Any]) -> None:
    answered.writelines(frames.pack(body))
    answered.flush()


def _answer(tasks: Mapping[str, str], job: Any, parts: list[bytes]) -> dict[str, Any]:
    try:
        sandbox.allow_cpu(job["cpu_seconds"])
        work = _function(tasks[job["task"]])
        return {"value": work(*_arguments(work, job["arguments"], parts))}
    except Problem as problem:
        return {"problem": {"code": problem.code, "message": problem.message, "details": problem.details}}
    except SealFailed as failure:
        return {"failed": failure.reason}
    except MemoryError:
        return {"failed": "it needed more memory than a worker may have", "memory": True}
    except Exception as error:
        # A library met something that its authors did not foresee: the job fails, not the worker.
        traceback.print_exc()
        return {"failed": f"{type(error).__name__}: {error}"[:500]}


def _function(place: str) -> Callable[..., Any]:
    module, name = place.split(":")
    found: Callable[..., Any] = getattr(import_module(module), name)
    return found


def _arguments(work: Callable[..., Any], plain: list[Any], parts: list[bytes]) -> list[Any]:
    hints = get_type_hints(work)
    names = list(signature(work).parameters)[: len(plain)]
    return [frames.rebuild(hints[name], item, parts) for name, item in zip(names, plain, strict=True)]


if __name__ == "__main__":
    main()
    sys.exit(0)
