"""Mode families as their files in ``modes/`` declare them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from pydantic import (
    Field,
    model_validator,
)

from mitigauge.core.field_types import Closed, Name, Option, Pattern, Text
from mitigauge.measurement.modes.settings import Settings

# What the kernel writes behind the last field, whatever that is.
_BESIDE = " - vulnerable module loaded"
ANY = "any"


class Expectation(Closed):
    """One form of the state that proves a mode to be in force.

    ``file`` is under /sys/devices/system/cpu/vulnerabilities; ``field`` picks the
    part ``FIELD: text`` of its ``;``-separated text, none takes the whole text. A part that is
    ``FIELD`` alone, as in ``Vulnerable; IBPB: disabled``, shows itself. Kernels before 6.9, and
    stable ones before they learnt of BHI, part fields by ``,``, which later is part of a text.
    """

    file: Name | Literal[""] = ""
    field: Text = ""
    equals: Text
    even_without: Option | Literal[""] = Field(
        "",
        description="an option of the mode that a kernel may not know: it shows this state then "
        "by its own choice",
    )
    source: Text = Field("", description="which kernels say it so, for example 'v8 of the series'")

    @property
    def place(self) -> tuple[str, str]:
        """Where it looks; expectations of one place are alternatives."""
        return self.file, self.field

    def describe(self) -> str:
        """The state as a person reads it."""
        return f"{self.file}: {self.state}"

    @property
    def state(self) -> str:
        """The part of the file's text that it waits for."""
        return (
            f"{self.field}: {self.equals}" if self.field not in ("", self.equals) else self.equals
        )

    def observed(self, vulnerabilities: Mapping[str, str]) -> str | None:
        """The text that a kernel shows where this looks; None where it shows nothing.

        *vulnerabilities*: the files' texts by name.
        """
        text = vulnerabilities.get(self.file)
        if text is None or not self.field:
            return text
        for part in text.split(";" if ";" in text else ","):
            field, colon, value = part.strip().partition(":")
            if field == self.field:
                return value.removesuffix(_BESIDE).strip() if colon else field
        return None


class SideEffect(Closed):
    """A state that a mode's settings make beside those that prove the mode.

    ``file`` and ``field`` as of an expectation, or ``file`` the path of a setting that is read
    back. Another mode that is known by this state is not shown to be in force where both are set.
    """

    file: Text
    field: Text = ""
    equals: Text
    with_mode: Text = Field("", description="family/mode that must be set as well for it")


def by_place(expect: Iterable[Expectation]) -> dict[tuple[str, str], list[Expectation]]:
    """The expectations of each place, which are alternatives; places in their order."""
    places: dict[tuple[str, str], list[Expectation]] = {}
    for expectation in expect:
        places.setdefault(expectation.place, []).append(expectation)
    return places


def in_force(expect: Iterable[Expectation], vulnerabilities: Mapping[str, str]) -> bool:
    """Expectations of one place are alternatives; each place must meet one of its own."""
    return all(
        any(e.observed(vulnerabilities) == e.equals for e in states)
        for states in by_place(expect).values()
    )


def described(expect: Iterable[Expectation]) -> list[str]:
    """What each place must show, as a person reads it: one of the states named for it."""
    return [" or ".join(each.describe() for each in states) for states in by_place(expect).values()]


class Mode(Closed):
    """A named setting under test."""

    title: Text = ""
    help: Text = ""
    applies: Literal["at-boot", "at-runtime"] = Field(
        "at-boot", description="`at-runtime`: its settings may be written to a running kernel"
    )
    settings: Settings = Settings()
    expect: tuple[Expectation, ...] = ()
    events: tuple[Name, ...] = Field(
        (),
        max_length=16,
        description="what of the hardware it works by (`modes/events/`): such events cost nothing "
        "where instructions are counted, so that its figures are bounds there",
    )
    side_effects: tuple[SideEffect, ...] = Field(
        (), max_length=40, description="states of other families that its settings make too"
    )
    implies: tuple[Text, ...] = Field(
        (),
        max_length=8,
        description="modes (family/mode) that are in force wherever this one is, whatever is set",
    )
    more_than: Name | Literal[""] = Field(
        "", description="a mode of the family all of whose work this one does too: it cannot win"
    )

    @model_validator(mode="after")
    def _is_provable(self) -> Mode:
        if not self.expect and not self.settings.describe():
            raise ValueError("nothing proves it: give `expect`, or a setting that is read back")
        if self.settings.guest_options.root and not self.settings.guest_state.root:
            raise ValueError(
                "an option proves nothing: give `guest_state`, what the guest's kernel then says"
            )
        at_boot = self.settings.cmdline.root or self.settings.cmdline_words.root
        if self.applies == "at-runtime" and at_boot:
            raise ValueError(
                "the command line is read at boot: leave out `applies: at-runtime`, or give "
                "`sysctls` or `module_parameters` in place of `cmdline`"
            )
        return self


class Finding(Closed):
    """How an event is found in the code that ran: one of three ways."""

    instruction: Pattern | None = Field(
        None, description="its bytes in hexadecimal, a regular expression"
    )
    after: Pattern | None = Field(
        None, description="of `instruction`: bytes of one that stands shortly before it"
    )
    entry: tuple[Text, ...] = Field(
        (), max_length=16, description="functions of the kernel, with * and ?: each call counts"
    )
    branches_in: tuple[Text, ...] = Field(
        (), max_length=16, description="functions of the kernel: each branch that is taken counts"
    )

    @model_validator(mode="after")
    def _is_one_way(self) -> Finding:
        ways = [self.instruction is not None, bool(self.entry), bool(self.branches_in)]
        if sum(ways) != 1 or (self.after is not None and self.instruction is None):
            raise ValueError(
                "give one of `instruction` (which may have `after`), `entry` and `branches_in`"
            )
        return self


class StatesWithoutMode(Closed):
    """States of one vulnerability file that no mode expects, and why not; ``any``: of each file.

    A state is a part of the file's text between ``;``.
    """

    file: Name
    states: tuple[Text, ...] = Field(min_length=1, max_length=20)
    why: Text
    costs: Literal["nothing", "unknown"] = Field(
        "unknown", description="`nothing`: no more than what other states show"
    )


class KnownStates(Closed):
    """``modes/states/without-a-mode.yml``. *files*: by file which processors have the bug."""

    files: dict[Name, Text] = Field(default_factory=dict)
    states: tuple[StatesWithoutMode, ...] = ()

    def state_of(self, file: str, state: str) -> StatesWithoutMode | None:
        """What is known of a state that no mode expects; None: nothing."""
        return next(
            (of for of in self.states if of.file in (file, ANY) and state in of.states), None
        )

    def why_no_mode(self, file: str, state: str) -> str:
        """Why no mode expects the state; empty where nothing is known of it."""
        known = self.state_of(file, state)
        return known.why.strip() if known else ""


class HardwareEvent(Closed):
    """One file of ``modes/events/``: what costs on real processors more than its instructions."""

    event: Name
    title: Text
    help: Text = ""
    protects: bool = Field(False, description="whether a kernel that does less of it protects less")
    found: tuple[Finding, ...] = Field(
        (), max_length=16, description="where exact counts show it; empty: nowhere"
    )


class LabAdditions(Closed):
    """What an emulated host needs besides, kept apart because it changes what is measured."""

    cmdline: tuple[Option, ...] = ()
    why: Text = ""


class ModeFamily(Closed):
    """One file of ``modes/``: a knob and its settings."""

    family: Name
    title: Text
    help: Text = ""
    file: Name | Literal[""] = Field(
        "", description="default vulnerability file of the expectations"
    )
    modes: dict[Name, Mode] = Field(min_length=1)
    emulated: LabAdditions = LabAdditions()

    @model_validator(mode="after")
    def _fill_default_file(self) -> ModeFamily:
        for name, mode in self.modes.items():
            if not self.file and any(not e.file for e in mode.expect):
                raise ValueError(f"modes.{name}.expect: which file? give it here or to the family")
            expect = tuple(
                e if e.file else e.model_copy(update={"file": self.file}) for e in mode.expect
            )
            self.modes[name] = mode.model_copy(update={"expect": expect})
        return self

    @model_validator(mode="after")
    def _is_ordered(self) -> ModeFamily:
        for name, mode in self.modes.items():
            if mode.more_than and mode.more_than not in self.modes:
                raise ValueError(f"modes.{name}.more_than: no mode {mode.more_than!r}")
            if self.outdoes(name, name):
                raise ValueError(f"modes.{name}.more_than: it would do more than itself")
        return self

    def outdoes(self, one: str, other: str) -> bool:
        """Whether mode *one* does all that *other* does, and more."""
        seen: set[str] = set()
        below = self.modes[one].more_than
        while below and below not in seen:
            if below == other:
                return True
            seen.add(below)
            below = self.modes[below].more_than
        return False
