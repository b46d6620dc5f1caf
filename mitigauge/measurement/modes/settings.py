"""What a mode sets, by kind: how it reaches a boot or a guest, and what must then be read back.

A kind is one class here. What it sets on the host goes onto the kernel's command line, so that it
is in force from the first instruction, lasts for one boot, and leaves nothing to undo.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, RootModel

from mitigauge.core.field_types import Closed, Option, formed
from mitigauge.core.wire.case import AS_HOST, BETWEEN_STATES, GUEST_RELEASE

MODULE = r"[A-Za-z0-9_]{1,64}"
# The kernel takes - and _ for one another; below /sys/module it is always _.
ModuleWord = Annotated[str, formed(MODULE, "a name of letters, digits and _")]
SysctlName = Annotated[
    str,
    formed(
        r"[a-z0-9_]{1,64}(\.[A-Za-z0-9_-]{1,64}){1,7}",
        "a sysctl, for example vm.swappiness",
    ),
]
# One word of a command line that GRUB hands on as it stands.
Word = Annotated[
    str, formed(r"[\w.,:/+@%~^-]{1,100}", "a value without blanks, as the kernel shows it")
]
OptionName = Annotated[
    str, formed(r"[a-z][a-z0-9_.]{0,62}", "an option of the kernel's command line")
]
OptionWord = Annotated[str, formed(r"[a-z0-9_]{1,40}", "small letters, digits and _")]
# No file: whether the kernel audits system calls, which it tells by netlink (AUDIT_GET).
AUDIT = "audit/enabled"
ShownFile = Annotated[
    str,
    formed(
        rf"sys/devices/system/cpu/[a-z0-9_]{{1,64}}/[a-z0-9_]{{1,64}}|{AUDIT}",
        f"a file as sys/devices/system/cpu/smt/control, or {AUDIT}",
    ),
]
_CPU = r"([A-Za-z0-9_.-]{1,64}|[+-][a-z0-9_.-]{1,64}|[a-z0-9_.-]{1,64}=[A-Za-z0-9_.-]{1,64})"
GUEST_KERNEL = "kernel"
GuestRelease = Annotated[str, formed(rf"({GUEST_RELEASE})?", f"a kernel's release, or {AS_HOST}")]
CpuModel = Annotated[
    str,
    formed(
        rf"({_CPU}(,{_CPU}){{0,30}})?",
        "a processor model, +FLAG, -FLAG or PROPERTY=VALUE, with commas between them",
    ),
]
FlagWords = Annotated[
    str,
    formed(
        r"([+-][a-z0-9_]{1,64}(,[+-][a-z0-9_]{1,64}){0,30})?",
        "+FLAG or -FLAG as /proc/cpuinfo names it, with commas between them",
    ),
]
# As QEMU's -global takes them: no dot in a device's name, no path in a value.
DeviceType = Annotated[str, formed(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", "a device of the monitor")]
DeviceProperty = Annotated[
    str, formed(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", "a property of a device of the monitor")
]
DeviceValue = Annotated[
    str, formed(r"[A-Za-z0-9_.-]{1,64}", "a value of a device's property, for example off or 256")
]
GuestText = Annotated[
    str,
    formed(r"[A-Za-z0-9_.,:/()+ -]{1,120}", "a text as a vulnerability file says it, without ;"),
]
ProgramPath = Annotated[
    str, formed(r"(/[A-Za-z0-9][A-Za-z0-9._+-]{0,63}){1,10}", "an absolute path of a program")
]
Digest = Annotated[str, formed(r"[0-9a-f]{64}", "a SHA-256 in small hexadecimal letters")]
IRQCHIPS = ("on", "split", "off")
MOST_VCPUS, LEAST_GUEST_MB, MOST_GUEST_MB = 512, 64, 1 << 20


class Reading(Closed):
    """A file of the host whose text proves a setting: *path* is below the root, without ``/``."""

    path: Annotated[
        str,
        formed(
            rf"sys/module/{MODULE}/parameters/{MODULE}|proc/sys(/[A-Za-z0-9_-]{{1,64}}){{2,8}}"
            rf"|sys/devices/system/cpu/[a-z0-9_]{{1,64}}/[a-z0-9_]{{1,64}}|{AUDIT}",
            f"a parameter of a module, a sysctl, a file below sys/devices/system/cpu, or {AUDIT}",
        ),
    ]
    equals: Word
    title: str

    def is_met(self, text: str | None) -> bool:
        """Whether the host's *text* says so; blanks count as one, None is no such file."""
        return text is not None and " ".join(text.split()) == self.equals


class MonitorProgram(Closed):
    """A virtual machine monitor of the host's."""

    path: ProgramPath
    sha256: Digest


class Kind(RootModel[Any]):
    """One kind of setting: nothing of these three unless it says otherwise."""

    def options(self) -> Iterator[str]:
        """Words for the kernel's command line."""
        yield from ()

    def readings(self) -> Iterator[Reading]:
        """What the host must show then."""
        yield from ()

    def writes(self) -> Iterator[Reading]:
        """Of the readings, those whose file may be written to, while the kernel runs."""
        yield from ()

    def guest(self) -> Mapping[str, str]:
        """What a guest is to get: name → value, which the guest itself must prove."""
        return {}

    @classmethod
    def joined(cls, values: Sequence[Any]) -> Any:
        """What several modes set together. Raises ValueError where two set the same thing."""
        return _joined(values)


class CommandLine(Kind):
    """Options of the kernel's command line; what proves them is the mode's ``expect``."""

    root: tuple[Option, ...] = Field((), max_length=50)

    def options(self) -> Iterator[str]:
        """See Kind."""
        yield from self.root


class CommandLineWords(Kind):
    """Option → words of its list: modes of several families each add theirs.

    ``{mitigations: [auto, no_user_user]}`` is ``mitigations=auto,no_user_user``.
    """

    root: dict[
        OptionName, Annotated[tuple[OptionWord, ...], Field(min_length=1, max_length=30)]
    ] = Field(default_factory=dict, max_length=10)

    def options(self) -> Iterator[str]:
        """See Kind; what proves them is the mode's ``expect``."""
        for name, words in self.root.items():
            yield f"{name}={','.join(words)}"

    @classmethod
    def joined(cls, values: Sequence[Any]) -> Any:
        """See Kind. A word that several modes add stands once."""
        whole: dict[str, dict[str, None]] = {}
        for name, words in (item for each in values for item in each.items()):
            whole.setdefault(name, {}).update(dict.fromkeys(words))
        return {name: tuple(words) for name, words in whole.items()}


class ModuleParameters(Kind):
    """Module → parameter → value as the kernel shows it below ``/sys/module``."""

    root: dict[ModuleWord, dict[ModuleWord, Word]] = Field(default_factory=dict, max_length=20)

    def options(self) -> Iterator[str]:
        """See Kind. What loads the module takes them from the command line of the boot."""
        for module, parameter, value in self._all():
            yield f"{module}.{parameter}={value}"

    def readings(self) -> Iterator[Reading]:
        """See Kind."""
        for module, parameter, value in self._all():
            yield Reading(
                path=f"sys/module/{module}/parameters/{parameter}",
                equals=value,
                title=f"module parameter {module}.{parameter}",
            )

    def writes(self) -> Iterator[Reading]:
        """See Kind."""
        return self.readings()

    def _all(self) -> Iterator[tuple[str, str, str]]:
        for module, parameters in self.root.items():
            for parameter, value in parameters.items():
                yield module, parameter, value


class Sysctls(Kind):
    """Name → value; the kernel sets them before its first program (Linux 5.8 and later)."""

    root: dict[SysctlName, Word] = Field(default_factory=dict, max_length=50)

    def options(self) -> Iterator[str]:
        """See Kind."""
        for name, value in self.root.items():
            yield f"sysctl.{name}={value}"

    def readings(self) -> Iterator[Reading]:
        """See Kind."""
        for name, value in self.root.items():
            yield Reading(
                path="proc/sys/" + name.replace(".", "/"), equals=value, title=f"sysctl {name}"
            )

    def writes(self) -> Iterator[Reading]:
        """See Kind."""
        return self.readings()


class Shows(Kind):
    """File below ``/sys/devices/system/cpu`` → its text: what shows a setting that has no file.

    ``audit/enabled`` is 0 or 1 as the kernel itself answers.
    """

    root: dict[ShownFile, Word] = Field(default_factory=dict, max_length=20)

    def readings(self) -> Iterator[Reading]:
        """See Kind."""
        for path, value in self.root.items():
            title = path.removeprefix("sys/devices/system/")
            yield Reading(path=path, equals=value, title=title)


class GuestCpu(Kind):
    """The guest's processor: a model, and flags that it gets or lacks, with commas."""

    root: CpuModel = ""

    def guest(self) -> Mapping[str, str]:
        """See Kind."""
        return {"cpu": self.root} if self.root else {}


def _irqchip(text: str) -> str:
    name, _, value = text.partition("=")
    if name != "kernel_irqchip" or value not in IRQCHIPS:
        raise ValueError(f"kernel_irqchip=… is known, with {', '.join(IRQCHIPS)}")
    return text


class GuestFlags(Kind):
    """Flags of the processor that the guest's own kernel must show (+) or lack (-), with commas."""

    root: FlagWords = ""

    def guest(self) -> Mapping[str, str]:
        """See Kind."""
        return {"flags": self.root} if self.root else {}


class GuestMachine(Kind):
    """A property of the guest's machine, as ``kernel_irqchip=split``."""

    root: Annotated[str, AfterValidator(_irqchip)] | None = None

    def guest(self) -> Mapping[str, str]:
        """See Kind."""
        if self.root is None:
            return {}
        name, _, value = self.root.partition("=")
        return {f"machine.{name}": value}


class GuestDevices(Kind):
    """Device of the monitor → property → value, for each device of that type in the guest."""

    root: dict[DeviceType, dict[DeviceProperty, DeviceValue]] = Field(
        default_factory=dict, max_length=10
    )

    def guest(self) -> Mapping[str, str]:
        """See Kind."""
        words = [
            f"{device}.{name}={value}"
            for device, properties in sorted(self.root.items())
            for name, value in sorted(properties.items())
        ]
        return {"devices": ",".join(words)} if words else {}


class GuestVcpus(Kind):
    """How many processors the guest has."""

    root: Annotated[int, Field(strict=True, ge=1, le=MOST_VCPUS)] | None = None

    def guest(self) -> Mapping[str, str]:
        """See Kind."""
        return {} if self.root is None else {"vcpus": str(self.root)}


class GuestMemory(Kind):
    """The guest's memory in MiB."""

    root: Annotated[int, Field(strict=True, ge=LEAST_GUEST_MB, le=MOST_GUEST_MB)] | None = None

    def guest(self) -> Mapping[str, str]:
        """See Kind."""
        return {} if self.root is None else {"memory_mb": str(self.root)}


class GuestMemoryBacking(Kind):
    """What of the host's memory the guest's is: plain, shared with other programs, or hugepages."""

    root: Literal["plain", "shared", "hugepages"] | None = None

    def guest(self) -> Mapping[str, str]:
        """See Kind."""
        return {} if self.root is None else {"memory_backing": self.root}


class GuestKernel(Kind):
    """Release of the guest's kernel; ``as-host``: that of the arm's kernel, as the host runs it."""

    root: GuestRelease = ""

    def guest(self) -> Mapping[str, str]:
        """See Kind."""
        return {GUEST_KERNEL: self.root} if self.root else {}


class GuestOptions(Kind):
    """Options of the guest's own kernel; what proves them is ``guest_state``."""

    root: tuple[Option, ...] = Field((), max_length=20)

    def guest(self) -> Mapping[str, str]:
        """See Kind."""
        return {"options": " ".join(self.root)} if self.root else {}


class GuestState(Kind):
    """Vulnerability file of the guest's own kernel → its text, or a part of it between ``;``."""

    root: dict[ModuleWord, GuestText] = Field(default_factory=dict, max_length=10)

    def guest(self) -> Mapping[str, str]:
        """See Kind."""
        words = [f"{file}={text}" for file, text in sorted(self.root.items())]
        return {"state": BETWEEN_STATES.join(words)} if words else {}


class GuestSandbox(Kind):
    """Whether the monitor filters its own system calls, as libvirt has it do; ``on`` or ``off``."""

    root: Literal["on", "off"] | None = None

    def guest(self) -> Mapping[str, str]:
        """See Kind."""
        return {} if self.root is None else {"sandbox": self.root}


class GuestMonitor(Kind):
    """The monitor's program on the host, and the SHA-256 that proves which build of it that is."""

    root: MonitorProgram | None = None

    def guest(self) -> Mapping[str, str]:
        """See Kind."""
        return {"monitor": f"{self.root.path} {self.root.sha256}"} if self.root else {}


class Settings(Closed):
    """All that a mode sets."""

    cmdline: CommandLine = CommandLine()
    cmdline_words: CommandLineWords = CommandLineWords()
    module_parameters: ModuleParameters = ModuleParameters()
    sysctls: Sysctls = Sysctls()
    shows: Shows = Shows()
    guest_cpu: GuestCpu = GuestCpu()
    guest_flags: GuestFlags = GuestFlags()
    guest_machine: GuestMachine = GuestMachine()
    guest_devices: GuestDevices = GuestDevices()
    guest_vcpus: GuestVcpus = GuestVcpus()
    guest_memory_mb: GuestMemory = GuestMemory()
    guest_memory_backing: GuestMemoryBacking = GuestMemoryBacking()
    guest_kernel: GuestKernel = GuestKernel()
    guest_options: GuestOptions = GuestOptions()
    guest_state: GuestState = GuestState()
    guest_sandbox: GuestSandbox = GuestSandbox()
    guest_monitor: GuestMonitor = GuestMonitor()

    def options(self) -> tuple[str, ...]:
        """Words that the boot's kernel command line gets."""
        return tuple(word for kind in self._kinds() for word in kind.options())

    def readings(self) -> tuple[Reading, ...]:
        """What the host must show, all of it."""
        return tuple(reading for kind in self._kinds() for reading in kind.readings())

    def writes(self) -> tuple[Reading, ...]:
        """What may be written to a running kernel, each to be read back."""
        return tuple(write for kind in self._kinds() for write in kind.writes())

    def guest(self) -> dict[str, str]:
        """What each guest of the arm must get."""
        return {name: value for kind in self._kinds() for name, value in kind.guest().items()}

    def describe(self) -> list[str]:
        """The settings that are read back, as a person reads them."""
        host = [f"{reading.title}: {reading.equals}" for reading in self.readings()]
        return host + [f"guest {name}: {value}" for name, value in self.guest().items()]

    def _kinds(self) -> Iterator[Kind]:
        for name in type(self).model_fields:
            kind = getattr(self, name)
            assert isinstance(kind, Kind)
            yield kind


def merged(parts: Sequence[Settings]) -> Settings:
    """All settings of the *parts*. Raises ValueError where two of them set the same thing."""
    whole: dict[str, Any] = {}
    nothing = Settings()
    for name in Settings.model_fields:
        given = [value for part in parts if (value := getattr(part, name).root)]
        kind = getattr(nothing, name)
        whole[name] = kind.joined(given) if given else kind.root
    _require_once([*(option_of(word) for word in whole["cmdline"]), *whole["cmdline_words"]])
    return Settings.model_validate(whole)


def _joined(values: Sequence[Any]) -> Any:
    """One kind's values together."""
    if isinstance(values[0], tuple):
        words = tuple(word for value in values for word in value)
        _require_once(option_of(word) for word in words)
        return words
    if isinstance(values[0], dict):
        whole: dict[str, Any] = {}
        for name, value in (item for each in values for item in each.items()):
            whole[name] = _joined([whole[name], value]) if name in whole else value
        return whole
    _require_once("the same thing of a guest, or a value" for _ in values)
    return values[0]


def option_of(word: str) -> str:
    """The name that the kernel knows a word by: it takes - and _ for one another."""
    return word.partition("=")[0].replace("-", "_")


def _require_once(names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValueError(f"two of its modes set {name}")
        seen.add(name)
