"""The page of one document, and every act on it.

Decisions:
- What can be done now is asked of the rules themselves (`possible`), so that no page knows them better than the actions
  behind it; where they refuse, the page says why, and a form that comes too late is answered with the same sentence.
- Each act that cannot be taken back asks on a page of its own, which a script shows as a dialog.
- The page shows the newest entries of the audit trail, each as a sentence (`timeline`); two kinds that go without
  saying stand in the full trail alone.
- Pictures of pages are those of the signing pages; the values are drawn as they will be sealed, of those who finished.
- A signing link is the answer to a form and stands in no address, history or cache; it can be fetched once more.
- Mails of test mode hold signing links, so who may only read does not see them.
"""
