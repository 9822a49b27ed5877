"""The worker process: `python -I -m esign.pdf.worker.worker`, with jobs on stdin and answers on stdout."""

import gc
import logging
import os
import select
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from inspect import signature
from typing import BinaryIO, get_type_hints

from esign.core.errors import Problem
from esign.pdf.seal_order import SealFailed
from esign.pdf.worker import frames, sandbox, signature_request
from esign.system import memory

# Each task names the function that does the work; its annotations declare what crosses the pipe. Imported on first use.
TASKS: Mapping[str, str] = {
    "inspect": "esign.pdf.intake.inspect:inspect_upload",
    "seal": "esign.pdf.seal.seal:seal_document",
    "begin": "esign.pdf.seal.seal:begin_seal",
    "finish": "esign.pdf.seal.seal:finish_seal",
    "parts": "esign.pdf.seal.sealed_parts:read_sealed_parts",
    "certificate": "esign.pdf.seal.sealed_parts:seal_certificate_pages",
    "verify": "esign.pdf.verify.validate:verify_signatures",
    "sources": "esign.pdf.verify.revocation_sources:list_sources",
    "reencode": "esign.pdf.drawing.signature_picture:reencode_signature",
    "logo": "esign.pdf.drawing.logo:redraw_logo",
    "letters": "esign.pdf.drawing.typed_signature:draw_letters",
    "missing": "esign.pdf.drawing.missing_glyphs:find_missing_with_system",
    "unfit": "esign.pdf.drawing.overlay:find_unfit_texts",
    "pictures": "esign.pdf.page.render:render_pages",
    "filled": "esign.pdf.drawing.filled_page:draw_filled_page",
    "read": "esign.pdf.page.page_text:read_paragraphs",
    "blanks": "esign.pdf.fields.detect_fields:find_fields",
    "blank": "esign.pdf.fields.blank_fields:blank_fields",
}

# PDF libraries keep some memory of every file: a worker that has grown so large, or is old, makes room for another,
# whose start and first job take 120 ms. 2,000 dense files leave half a MiB.
LARGEST, OLDEST = 250 * sandbox.MEBIBYTE, 2_000
REST = 0.1  # seconds without a job, after which a worker returns the memory that is free again


def run_worker(tasks: Mapping[str, str] = TASKS, readable: Sequence[str] = ()) -> None:
    """Answer jobs one after the other until the pipe closes or the worker is too old or too large.

    `readable` names more folders that it may read.
    """
    confined = sandbox.confine_process(readable)
    sandbox.leave_out_http()
    logging.disable(logging.CRITICAL)  # the answer contains what libraries report about the file
    with os.fdopen(os.dup(0), "rb") as asked, os.fdopen(os.dup(1), "wb") as answered:
        # Output that libraries print must not end up among the answers.
        os.dup2(2, 1)
        _send_frame(answered, {"confined": list(confined)})
        for age in range(1, OLDEST + 1):
            if not select.select([asked], [], [], REST)[0]:
                sandbox.return_memory()
            if _do_job(tasks, asked, answered, age):
                return


def _do_job(tasks: Mapping[str, str], asked: BinaryIO, answered: BinaryIO, age: int) -> bool:
    """Do one job, and return whether it was the last.

    This is a function of its own so that the file and the answer are freed before the next job comes.
    """
    frame = frames.read_job(asked)
    if frame is None:
        return True

    def sign_digests(digests: Sequence[bytes]) -> list[bytes]:
        answered.writelines(signature_request.pack_request(digests))
        answered.flush()
        answer = frames.read_job(asked)
        if answer is None:
            raise SealFailed("The server ended during the seal.")
        return signature_request.read_signatures(*answer)

    answer = _answer_job(tasks, *frame, sign_digests)
    last = age == OLDEST or "memory" in answer or sandbox.read_resident_memory() > LARGEST
    _send_frame(answered, {**answer, "last": last})
    return last


def _send_frame(answered: BinaryIO, body: Mapping[str, object]) -> None:
    answered.writelines(frames.pack_frame(body))
    answered.flush()


def _answer_job(
    tasks: Mapping[str, str], job: object, parts: list[bytes], sign: signature_request.SignDigests
) -> dict[str, object]:
    try:
        match job:
            case {"task": str(task), "arguments": list(arguments), "cpu_seconds": int(seconds)}:
                sandbox.allow_cpu(seconds)
                work = _import_function(tasks[task])
                given = _rebuild_arguments(work, arguments, parts)
                more = {"sign": sign} if "sign" in signature(work).parameters else {}
                return {"value": work(*given, **more)}
        raise frames.FrameError("The frame holds no job.")
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


def _import_function(place: str) -> Callable[..., object]:
    module, name = place.split(":")
    if module not in sys.modules:
        _import_module(module)
    found: Callable[..., object] = getattr(sys.modules[module], name)
    return found


def _import_module(name: str) -> None:
    """Import a module without looking for garbage among what it brings: 40 ms and 9 MiB of the first seal."""
    gc.collect()  # or the garbage of earlier jobs would stay with the modules
    memory.pause_collection()
    try:
        import_module(name)
    finally:
        memory.resume_collection()


def _rebuild_arguments(work: Callable[..., object], plain: list[object], parts: list[bytes]) -> list[object]:
    hints = get_type_hints(work)
    names = list(signature(work).parameters)[: len(plain)]
    return [
        frames.rebuild_annotated(hints[name], item, parts) for name, item in zip(names, plain, strict=True)
    ]


if __name__ == "__main__":
    run_worker()
    sys.exit(0)
