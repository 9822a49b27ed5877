"""Who may do what: one line for each operation of each entrance, written by hand and held against the program.

A new endpoint of the API, line of the office or address behind a link fails `test_table` until it has its line here.

The API. What a key needs: a scope, or for endpoints without one `viewer` or `member` (the least that the member who
made the key must be today), `key` (every valid key, also of somebody who left) or `public`. `test`: live keys do not
find it. What each scope needs of its key stands in `SCOPES`.

The office. Who opens it: `anybody`, `half` (a password was given and a code is awaited), or the roles of `OPENED_BY`.
Then what is asked of them once more:
- `password`: where it was not given for ten minutes;
- `code`: of those with a second factor, where none confirmed such an act in the last ten minutes; the code of the
  sign-in does not count;
- `each`: of those with a second factor a code with this very form.

Links. For a signer, an approver, a reader, and a signer whose code was not given: `y` where it is theirs to do, `n`
where it is refused, `-` where it is answered without anything being kept.
"""

from dataclasses import dataclass

from esign.core.actor import Mode
from esign.core.people.member import MemberRole

OWNER, ADMIN, MEMBER, VIEWER = MemberRole.OWNER, MemberRole.ADMIN, MemberRole.MEMBER, MemberRole.VIEWER
LEADERS = frozenset({OWNER, ADMIN})
WORKERS = LEADERS | {MEMBER}
ALL_ROLES = WORKERS | {VIEWER}
BOTH, LIVE = frozenset(Mode), frozenset({Mode.LIVE})

# Scope: the present roles of a maker whose keys may use it, and the modes of these keys.
SCOPES: dict[str, tuple[frozenset[MemberRole], frozenset[Mode]]] = {
    "documents:read": (ALL_ROLES, BOTH),
    "documents:write": (WORKERS, BOTH),
    "documents:send": (WORKERS, BOTH),
    "documents:links": (WORKERS, BOTH),
    "templates:read": (ALL_ROLES, BOTH),
    "templates:write": (WORKERS, BOTH),
    "webhooks:read": (LEADERS, BOTH),
    "webhooks:write": (LEADERS, BOTH),
    "account:read": (LEADERS, BOTH),
    "account:admin": (LEADERS, LIVE),
}
WITHOUT_SCOPE = {"viewer": ALL_ROLES, "member": WORKERS}
OPENED_BY = {"read": ALL_ROLES, "work": WORKERS, "settle": LEADERS, "own": frozenset({OWNER})}

API_TEXT = """
GET    /documents                                   documents:read
POST   /documents                                   documents:write
GET    /documents/{id}                              documents:read
PATCH  /documents/{id}                              documents:write
DELETE /documents/{id}                              documents:write
POST   /documents/{id}/send                         documents:send
POST   /documents/{id}/cancel                       documents:send
POST   /documents/{id}/remind                       documents:send
POST   /documents/{id}/retry-seal                   documents:send
POST   /documents/{id}/duplicate                    documents:write
GET    /documents/{id}/pages                        documents:read
GET    /documents/{id}/files/{variant}              documents:read
GET    /documents/{id}/audit                        documents:read
POST   /documents/{id}/recipients                   documents:write
PATCH  /documents/{id}/recipients/{rid}             documents:write
DELETE /documents/{id}/recipients/{rid}             documents:write
POST   /documents/{id}/recipients/{rid}/link        documents:links
POST   /documents/{id}/recipients/{rid}/unblock     documents:send
GET    /templates                                   templates:read
POST   /templates                                   templates:write
GET    /templates/{id}                              templates:read
PATCH  /templates/{id}                              templates:write
DELETE /templates/{id}                              templates:write
POST   /templates/{id}/documents                    documents:write
GET    /webhooks                                    webhooks:read
POST   /webhooks                                    webhooks:write
GET    /webhooks/{id}                               webhooks:read
PATCH  /webhooks/{id}                               webhooks:write
DELETE /webhooks/{id}                               webhooks:write
POST   /webhooks/{id}/rotate-secret                 webhooks:write
POST   /webhooks/{id}/test                          webhooks:write
POST   /webhooks/{id}/recover                       webhooks:write
GET    /webhooks/{id}/deliveries                    webhooks:read
GET    /webhooks/{id}/deliveries/{did}              webhooks:read
POST   /webhooks/{id}/deliveries/{did}/redeliver    webhooks:write
GET    /events                                      documents:read
GET    /events/{id}                                 documents:read
GET    /audit                                       account:admin
GET    /api-keys                                    account:admin
GET    /api-keys/{id}                               account:admin
PATCH  /api-keys/{id}                               account:admin
DELETE /api-keys/{id}                               account:admin
DELETE /api-keys/current                            key
GET    /account                                     viewer
GET    /account/usage                               account:read
GET    /settings                                    account:read
PATCH  /settings                                    account:admin
GET    /members                                     account:admin
POST   /members                                     account:admin
PATCH  /members/{id}                                account:admin
DELETE /members/{id}                                account:admin
POST   /verify                                      viewer
GET    /test/messages                               member test
POST   /test/documents/{id}/simulate                member test
GET    /openapi.json                                public
"""

OFFICE_TEXT = """
GET  /docs                                                  anybody
GET  /docs/search                                           anybody
GET  /docs/esign.toml.example                               anybody
GET  /docs/images/{name}                                    anybody
GET  /docs/{name}                                           anybody
GET  /                                                      anybody
GET  /sign-in                                               anybody
POST /sign-in                                               anybody
GET  /sign-in/code                                          half
POST /sign-in/code                                          half
GET  /sign-in/again                                         anybody
POST /sign-in/again                                         anybody
GET  /sign-in/again/code                                    half
POST /sign-in/again/code                                    half
POST /sign-out                                              read
GET  /confirm                                               read
POST /confirm                                               read
GET  /forgot                                                anybody
POST /forgot                                                anybody
GET  /password/{token}                                      anybody
POST /password/{token}                                      anybody
GET  /invitation/{token}                                    anybody
POST /invitation/{token}                                    anybody
GET  /set-up/{token}                                        anybody
POST /set-up/{token}                                        anybody
GET  /server/clock                                          own
GET  /server/backup                                         own
POST /server/clock                                          own     password code
GET  /server/address                                        own
POST /server/address                                        own     password code
POST /server/address/https                                  own
GET  /server/mail                                           own
POST /server/mail                                           own     password code
POST /server/mail/test                                      own     password code
GET  /server/mail/remove                                    own
POST /server/mail/remove                                    own     password code
GET  /server/seal                                           own
POST /server/seal                                           own
GET  /server/status                                         own
POST /server/status                                         own
GET  /documents/new                                         work
POST /documents/new                                         work
POST /documents/sample                                      work
GET  /documents/{id}/edit                                   work
POST /documents/{id}/edit                                   work
POST /documents/{id}/file                                   work
GET  /documents/{id}/review                                 work
POST /documents/{id}/send                                   work
GET  /documents/{id}/letters/{rid}                          work
GET  /documents/{id}/preview/{rid}                          work
GET  /documents/{id}/preview/{rid}/pages/{number}.webp      work
GET  /documents/{id}/preview/{rid}/pages/{number}.json      work
GET  /documents/{id}/preview/{rid}/original.pdf             work
GET  /documents/{id}/discard                                work
POST /documents/{id}/discard                                work
GET  /documents                                             read
GET  /contacts                                              work
GET  /contacts/suggest                                      work
GET  /contacts/new                                          work
POST /contacts/new                                          work
GET  /contacts/{id}                                         work
POST /contacts/{id}                                         work
POST /contacts/{id}/remove                                  work
GET  /palette                                               read
GET  /documents/views                                       read
GET  /documents/views/new                                   read
POST /documents/views/new                                   read
GET  /documents/views/{id}/edit                             read
POST /documents/views/{id}/edit                             read
POST /documents/views/{id}/delete                           read
POST /documents/export                                      read    code
GET  /selection/remind                                      work
POST /selection/remind                                      work
GET  /selection/cancel                                      work
POST /selection/cancel                                      work
GET  /selection/delete                                      work
POST /selection/delete                                      work
POST /selection/retry-seal                                  work
GET  /selection/done                                        work
GET  /selection/download                                    read
POST /selection/download                                    read    code
GET  /verify                                                anybody
GET  /verify/{id}                                           anybody
POST /verify                                                anybody
POST /language                                              anybody
POST /mode                                                  read
POST /organisation                                          read
GET  /documents/{id}                                        read
GET  /documents/{id}/mark                                   read
GET  /documents/{id}/pages                                  read
GET  /documents/{id}/pages/{number}/filled-{done}.webp      read
GET  /documents/{id}/files/{variant}                        read
GET  /documents/{id}/audit                                  read
GET  /documents/{id}/audit.json                             read
GET  /documents/{id}/remind                                 work
POST /documents/{id}/remind                                 work
GET  /documents/{id}/cancel                                 work
POST /documents/{id}/cancel                                 work
GET  /documents/{id}/expiry                                 work
POST /documents/{id}/expiry                                 work
GET  /documents/{id}/reminders                              work
POST /documents/{id}/reminders                              work
GET  /documents/{id}/reference                              work
POST /documents/{id}/reference                              work
POST /documents/{id}/duplicate                              work
GET  /documents/{id}/template                               work
POST /documents/{id}/template                               work
POST /documents/{id}/retry-seal                             work
POST /documents/{id}/sign                                   work
GET  /documents/{id}/delete                                 work
POST /documents/{id}/delete                                 work
GET  /documents/{id}/recipients/add                         work
POST /documents/{id}/recipients/add                         work
GET  /documents/{id}/recipients/{rid}                       work
POST /documents/{id}/recipients/{rid}                       work
GET  /documents/{id}/recipients/{rid}/remove                work
POST /documents/{id}/recipients/{rid}/remove                work
GET  /documents/{id}/recipients/{rid}/link                  work
POST /documents/{id}/recipients/{rid}/link                  work
POST /documents/{id}/recipients/{rid}/unblock               work
POST /documents/{id}/simulate                               work
GET  /test/messages                                         work
GET  /test/messages/{id}/letter                              work
GET  /account                                               read
POST /account/name                                          read
POST /account/password                                      read
POST /account/sessions/end-others                           read
POST /account/sessions/{id}/end                             read
GET  /account/second-factor                                 read    password
POST /account/second-factor                                 read    password
POST /account/second-factor/codes                           read    password each
POST /account/second-factor/off                             read    password each
GET  /documents/{id}/fields                                 work
POST /documents/{id}/fields                                 work
GET  /documents/{id}/fields/state                           work
GET  /documents/{id}/fields/found                           work
POST /documents/{id}/fields/found                           work
POST /documents/{id}/fields/found/undo                      work
GET  /documents/{id}/sheets/{number}.webp                   read
GET  /templates                                             read
GET  /templates/new                                         work
POST /templates/new                                         work
GET  /templates/{id}                                        read
GET  /templates/{id}/sheets/{number}.webp                   read
GET  /templates/{id}/files/original                         read
GET  /templates/{id}/preview/{rid}                          work
GET  /templates/{id}/preview/{rid}/pages/{number}.webp      work
GET  /templates/{id}/preview/{rid}/pages/{number}.json      work
GET  /templates/{id}/preview/{rid}/original.pdf             work
GET  /templates/{id}/edit                                   work
POST /templates/{id}/edit                                   work
GET  /templates/{id}/fields                                 work
POST /templates/{id}/fields                                 work
GET  /templates/{id}/fields/state                           work
GET  /templates/{id}/fields/found                           work
POST /templates/{id}/fields/found                           work
POST /templates/{id}/fields/found/undo                      work
GET  /templates/{id}/use                                    work
POST /templates/{id}/use                                    work
GET  /templates/{id}/delete                                 work
POST /templates/{id}/delete                                 work
GET  /members                                               settle
POST /members                                               settle  password code
POST /members/{id}/role                                     settle  password code
POST /members/{id}/again                                    settle  password code
POST /members/{id}/link                                     settle  password code
GET  /members/{id}/remove                                   settle
POST /members/{id}/remove                                   settle  password code
GET  /settings                                              read
GET  /settings/audit                                        own
POST /settings/outbox/retry                                 settle
POST /settings/outbox/mail-kept                             settle
GET  /settings/tokens                                       settle
GET  /settings/tokens/new                                   settle  password code
POST /settings/tokens/new                                   settle  password code
GET  /settings/tokens/{id}/name                             settle
POST /settings/tokens/{id}/name                             settle  password code
GET  /settings/tokens/{id}/revoke                           settle
POST /settings/tokens/{id}/revoke                           settle  password code
GET  /settings/webhooks                                     settle
GET  /settings/webhooks/new                                 settle  password code
POST /settings/webhooks/new                                 settle  password code
GET  /settings/webhooks/{id}                                settle
GET  /settings/webhooks/{id}/edit                           settle
POST /settings/webhooks/{id}/edit                           settle  password code
POST /settings/webhooks/{id}/on                             settle
POST /settings/webhooks/{id}/off                            settle
POST /settings/webhooks/{id}/test                           settle
GET  /settings/webhooks/{id}/secret                         settle  password code
POST /settings/webhooks/{id}/secret                         settle  password code
GET  /settings/webhooks/{id}/recover                        settle
POST /settings/webhooks/{id}/recover                        settle
GET  /settings/webhooks/{id}/delete                         settle
POST /settings/webhooks/{id}/delete                         settle  password code
GET  /settings/webhooks/{id}/deliveries/{did}               settle
POST /settings/webhooks/{id}/deliveries/{did}/again         settle
GET  /settings/organisation                                 settle
POST /settings/organisation                                 settle  password code
GET  /settings/organisation/logo                            settle  password code
POST /settings/organisation/logo                            settle  password code
GET  /settings/organisation/logo/remove                     settle
POST /settings/organisation/logo/remove                     settle  password code
GET  /settings/defaults                                     settle
POST /settings/defaults                                     settle  password code
GET  /settings/erasure                                      own
POST /settings/erasure                                      own
POST /settings/erasure/begin                                own     password code
GET  /settings/outbox                                       settle
GET  /settings/outbox/{id}                                   work
GET  /settings/outbox/{id}/letter                            work
GET  /settings/events                                       settle
GET  /settings/events/{id}                                  settle
GET  /settings/usage                                        settle
GET  /settings/plan                                         settle
GET  /settings/seal                                         settle
POST /settings/seal                                         settle
GET  /settings/seal/upload                                  own     password code
POST /settings/seal/upload                                  own     password code
GET  /settings/seal/back                                    own
POST /settings/seal/back                                    own     password code
GET  /settings/seal/new                                     own
POST /settings/seal/new                                     own     password code
"""

# Of a document that is out. `authenticate` is given the right code.
#                                                           signer approver reader uncoded
LINK_TEXT = """
GET  /s/{token}                                             y  y  y  y
GET  /s/{token}/status                                      y  y  y  y
POST /s/{token}/code                                        n  n  n  n
POST /s/{token}/authenticate                                n  n  n  y
POST /s/{token}/view                                        y  y  y  n
POST /s/{token}/draft                                       y  y  -  -
POST /s/{token}/complete                                    y  y  n  n
POST /s/{token}/decline                                     y  y  n  n
POST /s/{token}/letters                                     y  y  n  n
POST /s/{token}/handoff                                     y  y  n  n
GET  /s/{token}/handoff/{id}                                y  y  n  n
POST /s/{token}/renewal                                     n  n  n  n
GET  /s/{token}/original.pdf                                y  y  y  n
GET  /s/{token}/sealed.pdf                                  n  n  n  n
GET  /s/{token}/pages/{number:int}.webp                     y  y  y  n
GET  /s/{token}/pages/{number:int}/filled-{done:int}.webp   n  n  n  n
GET  /s/{token}/pages/{number:int}.json                     y  y  y  n
"""

# Addresses that ask for nobody: what they give is meant for everybody, or is opened by an unguessable part of its own.
OPEN = frozenset(
    {
        "/embed.js",
        "/h/{token}",  # the phone's page of a handoff, and what it sends
        "/h/{token}/open",
        "/h/{token}/ink",
        "/authority.cer",
        "/authority-next.cer",
        "/api",
        "/download/{ticket}",
        "/logo/{sha256}.png",
        "/healthz",
        "/readyz",
        "/static/{digest}/{name:path}",
    }
)


@dataclass(frozen=True, slots=True)
class RightsRow:
    """One line: the operation as `METHOD /path`, and what stands behind it."""

    operation: str
    words: tuple[str, ...]

    @property
    def method(self) -> str:
        return self.operation.split(" ")[0]

    @property
    def path(self) -> str:
        return self.operation.split(" ")[1]


def read(text: str) -> dict[str, RightsRow]:
    rows = {}
    for line in filter(str.strip, text.splitlines()):
        method, path, *words = line.split()
        operation = f"{method} {path}"
        assert operation not in rows, f"{operation} stands there twice"
        rows[operation] = RightsRow(operation, tuple(words))
    return rows


API, OFFICE, LINK = read(API_TEXT), read(OFFICE_TEXT), read(LINK_TEXT)
