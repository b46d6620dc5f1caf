"""What a long lab command shows while it works."""

from __future__ import annotations

import time
from typing import Protocol

from rich.console import Console
from rich.status import Status


class Progress(Protocol):
    """Receives the stage of the work and details within it."""

    def stage(self, title: str) -> None:
        """A new stage begins."""

    def detail(self, text: str) -> None:
        """Something happened within the stage."""

    def warn(self, text: str) -> None:
        """What somebody should know who reads nothing else."""


class ConsoleProgress:
    """Stages with elapsed time on a terminal, one line a stage elsewhere."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._status: Status | None = console.status("") if console.is_terminal else None
        self._title = ""
        self._began = time.monotonic()

    def __enter__(self) -> ConsoleProgress:
        if self._status:
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._finish()
        if self._status:
            self._status.stop()

    def stage(self, title: str) -> None:
        """Close the stage before with its time and begin the next."""
        self._finish()
        self._title = title
        self._began = time.monotonic()
        if not self._status:
            self._console.print(f"{title} …")
        self.detail("")

    def detail(self, text: str) -> None:
        """Show the latest line beside the stage; on a terminal only."""
        if self._status:
            elapsed = time.monotonic() - self._began
            line = f"{self._title} … {elapsed:.0f} s  {text}"
            self._status.update(line[: max(20, self._console.width - 4)].replace("[", r"\["))

    def warn(self, text: str) -> None:
        """A line that stays."""
        self._console.print(text, style="yellow", markup=False, highlight=False)

    def _finish(self) -> None:
        if self._title:
            elapsed = time.monotonic() - self._began
            self._console.print(f"{self._title}: {elapsed:.1f} s")
            self._title = ""


class Silent:
    """Shows nothing."""

    def stage(self, title: str) -> None:
        """Nothing."""

    def detail(self, text: str) -> None:
        """Nothing."""

    def warn(self, text: str) -> None:
        """Nothing."""
