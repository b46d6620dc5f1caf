"""Imports programs that lie outside any package: workloads and Ansible's modules."""

from __future__ import annotations

import shutil
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

from ansible import module_utils
from mitigauge.core.settings import REPOSITORY

# Ansible puts what modules share here when it packs them.
module_utils.__path__.append(str(REPOSITORY / "ansible" / "module_utils"))

# The program that runs a job, and its parts, which it imports from beside it.
RUNNER_FILES = REPOSITORY / "ansible/roles/workload/files"
sys.path.append(str(RUNNER_FILES))
# A workload finds the kit beside its own folder.
sys.path.append(str(REPOSITORY / "workloads"))


FILES = (
    "_cases.py",
    "_collecting.py",
    "_slowing.py",
    "_elf.py",
    "_exact.py",
    "_hpet.py",
    "_instructions.py",
    "_off_cpu.py",
    "_profiling.py",
)


def stage_runner(workloads: Path) -> None:
    """Put the runner and the kit into `workloads` as role `workload` does."""
    if not (workloads / "_kit").exists():
        shutil.copytree(REPOSITORY / "workloads/_kit", workloads / "_kit")
    for name in FILES:
        shutil.copy(RUNNER_FILES / name, workloads / name)
    shutil.copy(RUNNER_FILES / "runner.py", workloads / "_runner")


def load(relative: str) -> ModuleType:
    """The program at `relative` (to the repository) as a module."""
    name = "loaded_" + relative.replace("/", "_").replace(".", "_").replace("-", "_")
    loader = SourceFileLoader(name, str(REPOSITORY / relative))
    spec = spec_from_loader(name, loader)
    if spec is None:
        raise ImportError(f"cannot load {relative}")
    module = module_from_spec(spec)
    # Classes look their module up while they are made.
    sys.modules[name] = module
    # No __pycache__ beside a program that is staged by directory.
    keep, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    # A program finds its parts beside it.
    sys.path.insert(0, str((REPOSITORY / relative).parent))
    try:
        loader.exec_module(module)
    finally:
        del sys.path[0]
        sys.dont_write_bytecode = keep
    return module
