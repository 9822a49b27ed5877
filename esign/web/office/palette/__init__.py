"""The command palette: one search over documents, templates, the address book, pages, settings and actions.

`places` is the table of pages, settings and actions; `search` answers the script of the palette. Its answer holds
nothing that the member could not open, and nothing of another organisation or mode.
"""
