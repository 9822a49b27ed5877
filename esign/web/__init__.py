"""The HTTP floor: it turns bytes on a socket into a call of an action, and the result into a response.

Decisions:

- uvicorn with httptools runs under our own protocol class (`client_connection`), because it has no deadlines and no
  caps. One sweep looks at all connections instead of a timer each.
- There is no middleware for the API. `request_guard` (every request: host, sizes, name, log line) and `pipeline` (all
  below /api/v1) are two plain ASGI callables. The contract's order of checks is the order of lines in `Api`.
- One table (`api`) of `Endpoint` rows makes the routes (`routes`), the checks (`pipeline`) and the description
  (`openapi`), so that they cannot differ. Schemas are the annotations of handlers.
- JSON is read once, by `strict_json`. The models then see plain values and convert nothing. A second reading by
  the models' own parser would accept what the first one refuses.
- A response is made inside the transaction of its effect (`Caller.keep`), so a replay is exactly what was sent.
- Large bodies are parsed and hashed off the event loop, and only a few at once are held in memory.
"""
