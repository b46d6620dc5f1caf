"""A command that SIGKILL ends: `MODULE:FUNCTION CALL before|after WORDS…`."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from functools import reduce
from importlib import import_module
from typing import Any

from cli.main import main


def _replaced(function: Any, call: int, when: str) -> Any:
    calls = 0

    def killing(*words: Any, **names: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == call and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        found = function(*words, **names)
        if calls == call:
            os.kill(os.getpid(), signal.SIGKILL)
        return found

    return killing


def _replace(named: str, call: int, when: str) -> None:
    module, _, path = named.partition(":")
    *owners, name = path.split(".")
    owner = reduce(getattr, owners, import_module(module))
    found = getattr(owner, name)
    put = _replaced(found, call, when)
    setattr(owner, name, put)
    # Who imported it by name has it under that name.
    for each in [m for n, m in list(sys.modules.items()) if n.startswith("mitigauge.")]:
        if each.__dict__.get(name) is found:
            setattr(each, name, put)


def killed(arguments: Sequence[str]) -> None:
    """Run the command up to that call."""
    for module in ("restore", "service", "writer"):
        import_module(f"mitigauge.upkeep.backups.{module}")
    function, call, when, *words = arguments
    _replace(function, int(call), when)
    sys.argv = ["mitigauge", *words]
    main()
