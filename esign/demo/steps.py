"""Prints each step with its time; on a terminal a line moves while one waits."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import click

from esign.system.clock import SystemClock

FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
WIDTH = 58


class Failed(Exception):
    """A step did not hold; the message is what the person should know."""


class Steps:
    """`name` is the step that runs, for whoever has to say where it ended."""

    def __init__(self) -> None:
        self.name = ""
        self._clock = SystemClock()
        self._moves = sys.stdout.isatty()

    @asynccontextmanager
    async def step(self, name: str) -> AsyncIterator[None]:
        self.name = name
        begun = self._clock.monotonic()
        moving = asyncio.create_task(self._move()) if self._moves else None
        try:
            yield
        finally:
            if moving:
                moving.cancel()
                click.echo("\r\033[K", nl=False)
        took = round((self._clock.monotonic() - begun) * 1000)
        click.echo(f"  ✓ {name:<{WIDTH}} {took:>6,} ms")

    async def _move(self) -> None:
        turn = 0
        while True:
            click.echo(f"\r  {FRAMES[turn % len(FRAMES)]} {self.name}", nl=False)
            turn += 1
            await asyncio.sleep(0.1)
