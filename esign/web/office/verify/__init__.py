"""The public page on which anybody checks a sealed PDF; it needs no session and keeps nothing.

Decisions:
- A finding is turned into words by pure functions (`verdict`, `seals`, `identity`); the template only lays them out.
- The same page with and without script: the script sends the same form and shows the `<main>` of the answer.
- Whoever holds the id of a document learns that it was sealed here, and when; never its title or who signed.
- Times are those of UTC, as nobody's time zone is known here.
"""
