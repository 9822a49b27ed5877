"""The public page that verifies a sealed PDF. It needs no session and stores nothing.

Decisions:
- Pure functions turn a verification into what the page says (`verdict`, `seals`, `known_file`), with the sentences of
  `esign.pdf.verdict_sentences`; the template only lays them out.
- The page is the same with and without JavaScript: the script sends the same form and shows `<main>` of the answer.
- A visitor who has only the id of a document learns that it was sealed here, and when; never its title or who signed.
- A visitor who has the file learns who signed it and when, if the audit trail in the file is under a seal that is
  trusted here. The file prints the same and more. Of what is not in the file only the present name of the organisation
  is added, and only to a file with the seal of a document kept here.
- Times are in UTC, because the visitor's time zone is unknown.
"""
