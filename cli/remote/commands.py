"""Which commands go to a service, which need none, and why the others stay on its machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Final

from cli.remote.choice import require_local

REMOTE: Final = frozenset(
    f"{group} {name}".strip()
    for group, names in {
        "": "find health",
        "audit": "export list",
        "bisect": "cancel list show start wait",
        "claims": "show",
        "experiment": "cancel compare iterations limits list new published qualify "
        "report show submit table undecided wait",
        "host": "list queue release reserve resume set-aside show",
        "job": "cancel list show wait",
        "kernel": "build list show",
        "regression": "confirm error-rates file list set show",
        "report": "weekly",
        "series": "approve list show start studies study",
        "subscription": "add list pause remove resume",
        "trends": "accept annotate list show",
        "worker": "list",
    }.items()
    for name in names.split()
)
# They read files that they are given, or nothing at all.
ANYWHERE: Final = frozenset(
    {
        "compare",
        "cost",
        "kernel profiles",
        "openapi",
        "price list",
        "price measure",
        "price predict",
        "price rank",
        "profile fold",
        "profile show",
        "report check",
        "snippet rank",
    }
)

_DATABASE: Final = "It is about the service's own database and files."
_HOSTS: Final = "It reaches hosts with the keys of the service's machine."
_STORED: Final = "The API takes no such file; the dashboard shows what is stored."
_LAB: Final = "It is about emulated hosts of the machine itself."
_STORED_COUNTS: Final = "It reads counts of single instructions, which the API has no route for."
_MAIL: Final = "Mails and archives are the business of the service's workers."
# Without a way through the API: the reason, or what to do instead.
LOCAL: Final[Mapping[str, str]] = {
    "bisect report": "`bisect show` has the answer; mails go out from the service's machine.",
    "claims import": _STORED,
    "db backup": _DATABASE,
    "db check": _DATABASE,
    "db prune": _DATABASE,
    "db restore": _DATABASE,
    "db status": "`mitigauge health` says whether the schema is right.",
    "db upgrade": _DATABASE,
    "demo": _LAB,
    "experiment export": "`experiment iterations` and `experiment table --format csv` have values.",
    "experiment import": _STORED,
    "experiment judge": "A new version's rules are applied once, by whoever upgrades the service.",
    "host add": "An inventory is a file of the service's machine.",
    "host check": _HOSTS,
    "host restore": _HOSTS,
    "kernel import": _STORED,
    "kernel remove": "Which packages are kept is decided where they lie.",
    "lab console": _LAB,
    "lab down": _LAB,
    "lab status": _LAB,
    "lab up": _LAB,
    "matrix select": "It boots kernels of the service in emulators of the service's machine.",
    "price estimate": _STORED_COUNTS,
    "price rates": "It reads what collectors stored; `experiment show` names it.",
    "profile diff": "The dashboard shows it, on an experiment's page.",
    "profile exact": "The dashboard shows it, as a tab of a case's flame graph.",
    "profile export": "The dashboard offers profiles as downloads.",
    "profile functions": "`experiment table ID functions` shows them.",
    "profile import": _STORED,
    "profile instructions": "`experiment table ID instructions` shows them.",
    "report reply": _MAIL,
    "serve": "It is the service.",
    "series add": _MAIL,
    "series ignore": _MAIL,
    "series requests": _MAIL,
    "series retest": "Order `kernel build` with the fix, and submit an experiment.",
    "series set": "What measures a series is decided where it was added.",
    "series watch": _MAIL,
    "token create": "Tokens are made on the service's machine alone, also for admins.",
    "token list": "Tokens are made on the service's machine alone, also for admins.",
    "token revoke": "Tokens are made on the service's machine alone, also for admins.",
    "trends update": "A worker does it by itself whenever a run ends.",
    "try": "Order `kernel build` for both kernels, and submit an experiment that compares them.",
    "worker": "It is a part of the service.",
}


def guarded(command: Any, name: str) -> Any:
    """*command* and all below it: without a way through the API, each refuses a given service.

    A command that is in no list refuses as well.
    """
    for below, each in getattr(command, "commands", {}).items():
        guarded(each, f"{name} {below}")
    is_group = hasattr(command, "commands")
    callback = getattr(command, "callback", None)
    if callback is not None and not is_group and name not in REMOTE | ANYWHERE:
        command.callback = _refusing(callback, name)
    return command


def require_local_command(name: str) -> None:
    """Refuse the command where a service is given. Raises :class:`LocalOnly`."""
    require_local(name, LOCAL.get(name, ""))


def _refusing(callback: Callable[..., Any], name: str) -> Callable[..., Any]:
    @wraps(callback)
    def called(*arguments: Any, **options: Any) -> Any:
        require_local_command(name)
        return callback(*arguments, **options)

    return called
