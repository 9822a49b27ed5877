"""Templates: a file, roles where a document has people, and their fields; made once, used by a form.

Decisions:
- What is edited is what the next use takes, also that of a program. So people save a template with a button, when they
  mean it, and not while they type as with a draft; only the field editor saves by itself, as everywhere.
- Two people at one template lose nothing: their forms are put together as those of a draft are (`draft.merging`).
- Programs name a role by its key. A new role gets one made of its name; it stays when the name changes.
- A use is sent at once or becomes a draft to look at. A form of it that is sent twice is one use (`once`). Where the
  new document cannot be sent it stays a draft, and its review says what is missing.
- How often a template was used is not counted: the list of documents tells which ones, newest first.
"""
