"""Somebody else who asks the server meanwhile: `python -m tests.mutants.watch PORT`, until it is ended.

Prints for each asking of /healthz how many milliseconds the answer took, and how many a sleep took too long: what the
machine itself lets everybody wait.
"""

import http.client
import sys
import time

EVERY = 0.05


def watch(port: int) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    while True:
        began = time.perf_counter()
        connection.request("GET", "/healthz")
        answer = connection.getresponse()
        answer.read()
        took = time.perf_counter() - began if answer.status == 200 else 60
        began = time.perf_counter()
        time.sleep(EVERY)
        print(f"{took * 1000:.2f} {(time.perf_counter() - began - EVERY) * 1000:.2f}", flush=True)


if __name__ == "__main__":
    watch(int(sys.argv[1]))
