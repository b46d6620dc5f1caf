"""Puts what the code reads beside itself into the package: workloads, modes, playbooks and more.

All else of the package is said by pyproject.toml.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).resolve().parent
# mitigauge/core/settings.py looks for them in `mitigauge/share` where there is no checkout.
SHARED = (
    "ansible/ansible.cfg",
    "ansible/envs/example",
    "ansible/envs/lab",
    "ansible/module_utils",
    "ansible/playbooks",
    "ansible/roles",
    "db/migrations",
    "db/recorded",
    "experiments",
    "modes",
    "prices",
    "web/dist",
    "workloads",
)
LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.pyc", ".mypy_cache", ".ruff_cache")


class BuildWithShared(build_py):
    """Copies the shared folders, but for an editable installation, which reads the checkout's."""

    def run(self) -> None:
        if not (HERE / "mitigauge/client/operations.py").exists() and not self.editable_mode:
            raise SystemExit(
                "mitigauge/client is not whole: run `make setup` first, which makes it of the API"
            )
        super().run()
        if not self.editable_mode:
            for name in SHARED:
                self._take(name)

    def _take(self, name: str) -> None:
        source, target = HERE / name, Path(self.build_lib) / "mitigauge" / "share" / name
        if not source.exists():
            raise SystemExit(
                f"{name} is missing: run `make setup` first, which builds the dashboard"
            )
        if source.is_dir():
            shutil.copytree(source, target, ignore=LEFT_OUT, dirs_exist_ok=True)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)


setup(cmdclass={"build_py": BuildWithShared})
