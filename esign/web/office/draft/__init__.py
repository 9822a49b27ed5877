"""From a PDF to a document that is sent: file, people, fields (a page of its own), review.

Decisions:
- Each file becomes a document of its own, as the API has it: one document is one PDF. The draft exists as soon as its
  file was taken, so that nothing of what follows can be lost with a tab.
- A draft is saved while it is typed, by the very form that a button sends where no script runs. What cannot be taken
  keeps its sentence at its field; everything else is saved, by the schemas and the action of PATCH (contract 3.2).
- The form carries what its page showed (`seen`). Whoever changed something else meanwhile loses nothing: both changes
  are put together (`merging`). Only where both changed the same thing is somebody asked, with both texts before them.
- What a browser could not save yet it keeps in its tab, with the page's `seen`, and sends it later.
- Lower steps are invited first, equal ones at once (contract 4). Moving somebody up or down moves the person, not the
  numbers: who comes to stand there gets that step.
- What is reviewed is what is sent: the form of the review names the revision that it showed.
"""
