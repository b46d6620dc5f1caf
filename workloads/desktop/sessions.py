"""Desktops under load: each does one action at a time, log-ins come on an even ramp."""

from __future__ import annotations

import select
import time
from collections.abc import Callable, Iterator
from typing import Any

from _kit.contract import CaseError
from _kit.guest import Guest, LabFault
from _kit.guest_channel import Channel, Frame
from actions import DISK, loop_order, think_s
from host_samples import EVERY_S, HostSamples
from sched_recording import Recording

# No action of either profile takes as long on a host that still does any work.
ACTION_LIMIT_S = 300.0
# A shell's word for a program that is missing, cannot be run, or was ended by a signal.
DIED = 126
# What an answer holds beside its kind.
NUMBERS = ("status", "began_ns", "ended_ns", *(f"{name}_before" for name in DISK), *DISK)


class Desktop:
    """One session, and the guest that it runs in."""

    def __init__(self, number: int, guest: Guest, channel: Channel, think_mean_s: float) -> None:
        self.number, self.guest, self.channel = number, guest, channel
        self.think_mean_s = think_mean_s
        self.loop, self.loops_ended = -1, 0
        self.steps = self._steps()
        self.kind, self.sent_at = "", 0.0
        self.due: float | None = None
        """When the next action is to begin; None while one is under way or nobody logged in."""
        self.level = 0

    def _steps(self) -> Iterator[tuple[str, int, float]]:
        """(kind, loop, pause before it), for ever; the loop that ends is counted."""
        yield "login", 0, 0.0
        loop = 0
        while True:
            for place, kind in enumerate(loop_order(self.number, loop)):
                yield kind, loop, think_s(self.number, loop, place, self.think_mean_s)
            loop += 1
            self.loops_ended = loop

    def plan(self, now: float) -> None:
        """Let the next action be due after its pause."""
        self.kind, self.loop, pause = next(self.steps)
        self.due = now + pause

    def begin(self, now: float, level: int) -> None:
        """Send the action."""
        self.channel.send(self.kind)
        self.due, self.sent_at, self.level = None, now, level

    def answered(self, frame: Frame, began: float, now: float) -> dict[str, Any]:
        """What the desktop says of its action, as it is kept; times in seconds since `began`."""
        line, _, said = frame.text.partition("\n")
        kind, *numbers = line.split(" ")
        if frame.kind != "DONE" or kind != self.kind or len(numbers) != len(NUMBERS):
            raise LabFault("guest-channel", f"desktop {self.number} said {frame.text[:200]!r}")
        try:
            told = dict(zip(NUMBERS, map(int, numbers)))
        except ValueError:
            raise LabFault("guest-channel", f"desktop {self.number} said {line[:200]!r}") from None
        if told["status"] >= DIED:
            raise CaseError(
                f"desktop {self.number}: the application of {kind} died with status "
                f"{told['status']}: {said.strip()[:300] or 'it said nothing'}"
            )
        return {
            "session": self.number, "loop": self.loop, "kind": kind, "level": self.level,
            "began": round(self.sent_at - began, 6), "ended": round(now - began, 6), **told,
            **({"said": said.strip()[:300]} if told["status"] else {}),
        }  # fmt: skip


class Load:
    """Drives the desktops through baseline, ramp and steady phase, and keeps what they say."""

    def __init__(
        self,
        desktops: list[Desktop],
        samples: HostSamples,
        ramp_s: float,
        recording: Recording | None = None,
    ) -> None:
        self.desktops, self.samples, self.ramp_s = desktops, samples, ramp_s
        self.recording = recording
        self.began = time.monotonic()
        self.level = 0
        self.actions: list[dict[str, Any]] = []
        self.phases: dict[str, list[float]] = {}
        self.next_sample = self.began

    def run(self, loops: int) -> None:
        """All three phases; each desktop does `loops` warm loops alone, or beside all others."""
        first, *others = self.desktops
        self._phase("baseline", lambda: first.loops_ended > loops, [first])
        if others:
            self._phase("ramp", lambda: self._are_in(others), others)
        at_start = {desktop.number: desktop.loops_ended for desktop in self.desktops}

        def all_did() -> bool:
            # The loop that was under way at the start does not count.
            return all(d.loops_ended > at_start[d.number] + loops for d in self.desktops)

        if self.recording:
            self.recording.begin()
        self._phase("steady", all_did, [])
        if self.recording:
            self.recording.end()

    def _are_in(self, others: list[Desktop]) -> bool:
        """Whether the ramp's time is over and everybody's log-in has ended."""
        over = time.monotonic() - self.began >= self.phases["ramp"][0] + self.ramp_s
        return over and all(d.loop >= 0 and d.kind != "login" for d in others)

    def _phase(self, name: str, is_over: Callable[[], bool], coming: list[Desktop]) -> None:
        began = time.monotonic()
        self.phases[name] = [round(began - self.began, 6)]
        for place, desktop in enumerate(coming):
            desktop.plan(began + place * self.ramp_s / len(coming))
        self._sample(began)
        while not is_over():
            self._step()
        now = time.monotonic()
        self._sample(now)
        self.phases[name].append(round(now - self.began, 6))

    def _sample(self, now: float) -> None:
        self.samples.take(now - self.began, self.level)
        self.next_sample = now + EVERY_S

    def _step(self) -> None:
        """Whatever comes first: an answer, an action that is due, a sample."""
        due = [d.due for d in self.desktops if d.due is not None]
        wait = min([self.next_sample, *due]) - time.monotonic()
        busy = [desktop for desktop in self.desktops if desktop.sent_at]
        ready = select.select([d.channel for d in busy], [], [], max(wait, 0))[0]
        for desktop in busy:
            if desktop.channel in ready:
                self._hear(desktop)
        now = time.monotonic()
        beginning = [d for d in self.desktops if d.due is not None and now >= d.due]
        # What begins at one moment begins at one level.
        self.level += sum(desktop.kind == "login" for desktop in beginning)
        for desktop in beginning:
            desktop.begin(now, self.level)
        if now >= self.next_sample:
            self._look(now)
            self._sample(now)
            if self.recording:
                self.recording.end_when_due()

    def _hear(self, desktop: Desktop) -> None:
        desktop.channel.fill(0)
        while frame := desktop.channel.taken():
            now = time.monotonic()
            self.actions.append(desktop.answered(frame, self.began, now))
            desktop.sent_at = 0.0
            desktop.plan(now)

    def _look(self, now: float) -> None:
        """A guest that is gone, or does not answer, ends the pass."""
        for desktop in self.desktops:
            desktop.guest.check()
            if desktop.sent_at and now - desktop.sent_at > ACTION_LIMIT_S:
                what = (
                    f"desktop {desktop.number}: {desktop.kind} had no end in {ACTION_LIMIT_S:g} s"
                )
                raise desktop.guest.fault("guest-hang", what)
