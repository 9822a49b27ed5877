"""The public page that verifies a sealed PDF. It needs no session and stores nothing.

Decisions:
- Pure functions turn a verification into what the page says (`verdict`, `seals`, `known_file`), with the sentences of
  `esign.pdf.verdict_sentences`; the template only lays them out.
- The page is the same with and without JavaScript: the script sends the same form and shows `<main>` of the answer.
- A visitor who has the id of a document learns that it was sealed here, and when; never its title or who signed.
- Times are in UTC, because the visitor's time zone is unknown.
"""
