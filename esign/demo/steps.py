"""Print each step with its duration; on a terminal an animation shows that a step is running."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import click

from esign.system.clock import SystemClock

FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
WIDTH = 58


class StepFailed(Exception):
    """A step failed; the message is for the person at the console."""


class Steps:
    """Prints steps; `name` is the step that runs, so that a failure can name it."""

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
