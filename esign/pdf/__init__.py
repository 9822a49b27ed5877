"""PDF in, PDF out: synchronous functions that know no database and no configuration, run in limited child processes.

Decisions: `order`, `inspection` and `verification` hold the plain values that cross the pipe, so that the serving
process imports no PDF library; `glyphs` answers there from a table. An upload is always rewritten (`normalise`), never
patched. A value is drawn by Typst on a transparent page and laid over as one form (`overlay`, `stamp`), which keeps
text as text in every script; what a recipient cannot say shorter shrinks, what they typed is refused if it does not.
The seal's CMS is encoded by hand (`cms`): 2 ms in place of 20, and nothing in it but what PAdES B-B asks for. pyHanko
places it (`seal`) and judges it (`verify`); one private method of its writer is overridden, because it would set this
machine's time and parse metadata that are not ours. `verify` calls valid only what is signed to the last byte.
All of it runs in children over pipes (`workers`, `worker`, `sandbox`): a process pool can neither kill a job that hangs
nor outlive one that crashes. In front of them stands one `queue`, ordered by who asks and for what (`turn`); what would
kill or exhaust a worker again is refused before (`failures`). What crosses the pipe is JSON and bytes, rebuilt by the
types the receiver declares (`frames`), because a child that a file has taken over must not be believed. `inspect`
judges by content alone and rehearses sealing before it takes a file; `complexity` only makes known refusals fast, the
child's limits are the law.
"""
