"""Templates: a file with fields, and roles in place of recipients. A template is made once and used by a form.

Decisions:

- Every change counts for the next use, also for one by a program. The form of a template is therefore saved
  with a button, and not while the user types as with a draft. Only the field editor saves by itself, as
  everywhere.
- Two users who edit one template lose nothing: their forms are merged as those of a draft are
  (`draft.merge_edits`).
- Programs name a role by its key. A new role gets a key made from its name, which stays when the name changes.
- A use is sent at once, or becomes a draft to look at. A form that is sent twice is one use (`create_once`). If
  the new document cannot be sent it stays a draft, and its review says what is missing.
- Uses are not counted: the document list shows the documents made from a template, newest first.
"""
