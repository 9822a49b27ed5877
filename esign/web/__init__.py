"""Floor 3, the HTTP door: from bytes on a socket to a call of an action, and back.

Decisions:
- uvicorn with httptools under a protocol class of our own (`connection`): it has no deadlines and no caps;
  one sweep looks at all connections instead of a timer each.
- No middleware for the API: `guard` (every request: host, sizes, name, log line) and `pipeline` (all below
  /api/v1) are two plain ASGI callables; the contract's order of checks is the order of lines in `Api`.
- One table (`api`) of `Endpoint` rows makes the routes (`routes`), the checks (`pipeline`) and the description
  (`openapi`), so that they cannot differ. Schemas are the annotations of handlers.
- JSON is read once by `strict_json`; the models then see plain values and convert nothing. A second reading by
  the models' own parser would accept what the first one refuses.
- An answer is made inside the transaction of its effect (`Call.keep`): what is replayed is what was sent.
- Large bodies are parsed and hashed off the loop, and only a few at once are held in memory.
"""
