"""Read, prepare, draw, seal and verify PDF files. All functions here are synchronous and know neither the
database nor the configuration. They run in child processes with limits on time and memory.

Decisions:

- `seal_order`, `inspection` and `report` hold the plain values that cross the pipe, so that the serving process
  imports no PDF library. `drawing.missing_glyphs` answers in the serving process from a table.
- An upload is always rewritten (`intake.normalise`), never patched.
- Typst draws a field value on a transparent page, which is laid over the document as one form XObject
  (`drawing.overlay`, `drawing.stamp_pages`). Text stays text in every script. A text that the recipient cannot
  shorten is drawn smaller; a text that the recipient typed is refused if it does not fit.
- The CMS of the seal is encoded by hand (`seal.cms`): 2 ms instead of 20, and only the attributes that PAdES
  B-B asks for. pyHanko places it (`seal.seal_document`) and validates it (`verify`). One private method of pyHanko's
  writer is overridden, because it would write this machine's time and parse metadata of the upload.
- `verify` calls a file valid only if a signature covers it to the last byte.
- The PDF work runs in child processes over pipes (`worker.workers`, `worker.worker`, `worker.sandbox`). A
  process pool can neither kill a job that hangs nor survive one that crashes. One queue stands in front of the
  processes, ordered by caller and kind of work (`worker.queue`, `worker.queue_turn`). A file that killed or
  exhausted a worker is refused when it comes again (`worker.failure_memory`).
- Messages on the pipe are JSON and bytes. The receiver rebuilds them by the types that it declares
  (`worker.frames`), because a child that a malicious file has taken over must not be trusted.
- `intake.inspect` judges an upload by its content alone and rehearses sealing before it accepts the file.
  `intake.complexity` only makes known refusals fast; the limits of the child process are what protects the
  program.
"""
