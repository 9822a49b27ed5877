"""The page of one document, and every action on it.

Decisions:

- What can be done now is found by asking the rules themselves (`possible_actions`), so that no page knows them
  better than the actions behind it. Where a rule refuses, the page says why. A form that comes too late is
  answered with the same sentence.
- Each action that cannot be undone asks for confirmation on a page of its own, which a script shows as a
  dialog.
- The page shows the newest entries of the audit trail, each as a sentence (`timeline`). Two kinds of entries
  that go without saying appear in the full trail alone.
- The pictures of pages are those of the signing pages. They show the values of the recipients who have
  finished, drawn as they will be sealed.
- A signing link is the response to a form. It appears in no address, history or cache, and can be issued once
  more.
- Mails of test mode hold signing links, so members who may only read do not see them.
"""
