"""From a PDF to a document that is sent: file, recipients, fields (a page of their own), review.

Decisions:

- Each file becomes a document of its own, as in the API: one document is one PDF. The draft exists as soon as
  its file was accepted, so that closing the tab loses nothing of the later steps.
- The page saves a draft while the user types, by sending the same form that a button sends where no script
  runs. A value that is refused keeps its sentence at its field. Everything else is saved, by the
  action that PATCH calls as well (contract 3.2).
- The form carries what its page showed (`seen`). If another user changed something else meanwhile, both changes
  are merged (`merge_edits`). Only where both changed the same thing is the second user asked, with both texts
  shown.
- What a browser could not save yet it keeps in its tab, with the page's `seen`, and sends later.
- Lower steps are invited first, equal ones at once (contract 4). Moving a recipient up or down moves the
  person, not the numbers: the recipient who takes a position gets its step.
- What is reviewed is what is sent: the form of the review names the revision that it showed.
"""
