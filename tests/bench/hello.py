"""A bare Starlette application, served by the same uvicorn and protocol parts: `python -m tests.bench.hello PORT`.

It answers GET with a few bytes, and POST once the body has arrived, as the floor under every figure of the program.
"""

import sys

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route


async def say_hello(request: Request) -> JSONResponse:
    return JSONResponse({"hello": "world"})


async def take_body(request: Request) -> JSONResponse:
    return JSONResponse({"size": len(await request.body())}, status_code=201)


app = Starlette(
    routes=[
        Route("/healthz", say_hello, methods=["GET"]),
        Route("/{path:path}", take_body, methods=["POST"]),
    ]
)

if __name__ == "__main__":
    uvicorn.run(
        app,
        host="127.0.0.1",
        port=int(sys.argv[1]),
        loop="uvloop",
        http="httptools",
        access_log=False,
        log_level="warning",
    )
