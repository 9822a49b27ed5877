"""Measurements of the source: sizes, names, docstrings, references, and how far a change spreads.

`python -m tests.house` prints them. None is a limit; `docs/dev/architecture.md` says which are kept low and why.
"""
