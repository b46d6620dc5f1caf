"""The contract is one folder, of the standard library alone, that comes to hosts in two ways."""

from __future__ import annotations

import ast
import base64
import io
import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from mitigauge.core.settings import REPOSITORY
from tests.loading import load
from tests.unit.wire.contract import WIRE

ARCHIVE = load("ansible/roles/workload/lookup_plugins/workload_archive.py")
MODULES = sorted(WIRE.glob("*.py"))
LINKS = ("workloads/_kit/wire", "ansible/module_utils/mitigauge_wire")


def imports(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """(how many dots, module) of each import."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((0, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.level, node.module or ""


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_it_imports_the_standard_library_and_itself(path: Path) -> None:
    tree = ast.parse(path.read_text(), feature_version=(3, 9))
    for dots, module in imports(tree):
        if dots:
            assert (dots, (WIRE / f"{module}.py").is_file()) == (1, True), module
        else:
            assert module.partition(".")[0] in sys.stdlib_module_names, module
    assert "from __future__ import annotations" in path.read_text() or path.stem == "__init__"


@pytest.mark.parametrize("link", LINKS)
def test_other_places_have_the_same_folder(link: str) -> None:
    assert (REPOSITORY / link).is_symlink()
    assert (REPOSITORY / link).resolve() == WIRE.resolve()


def test_it_is_staged_with_the_kit_and_stands_alone(tmp_path: Path) -> None:
    packed, digests = ARCHIVE.archive(["syscall"], REPOSITORY / "workloads")
    with tarfile.open(fileobj=io.BytesIO(base64.b64decode(packed))) as tar:
        names = set(tar.getnames())
        tar.extractall(tmp_path, filter="data")
    assert {f"_kit/wire/{path.name}" for path in MODULES} <= names
    assert not [name for name in names if "__pycache__" in name]
    every = ", ".join(path.stem for path in MODULES if path.stem != "__init__")
    done = subprocess.run(
        [sys.executable, "-I", "-B", "-c",
         f"import sys; sys.path.append('.'); from _kit.wire import {every}; "
         "print('mitigauge' in sys.modules)"],
        cwd=tmp_path, check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout == "False\n"
    assert set(digests) == {"_kit", "syscall"}


def test_the_kits_digest_is_of_the_contract_too(tmp_path: Path) -> None:
    (tmp_path / "wire").mkdir()
    (tmp_path / "wire/job.py").write_text("RUNNING = 1\n")
    (tmp_path / "kit").mkdir()
    (tmp_path / "kit/wire").symlink_to("../wire")
    before = ARCHIVE.digest(tmp_path / "kit")
    (tmp_path / "wire/__pycache__").mkdir()
    (tmp_path / "wire/__pycache__/job.pyc").write_bytes(b"left by an import")
    assert ARCHIVE.digest(tmp_path / "kit") == before
    (tmp_path / "wire/job.py").write_text("RUNNING = 2\n")
    assert ARCHIVE.digest(tmp_path / "kit") != before


def test_ansible_packs_it_into_its_modules(tmp_path: Path) -> None:
    command = [
        str(Path(sys.executable).with_name("ansible")), "localhost", "-i", "localhost,",
        "-c", "local", "-m", "workload_job", "-M", "roles/workload/library",
        "-e", f"ansible_python_interpreter={sys.executable}",
        "-a", f"state=polled job=none jobs={tmp_path} workloads={tmp_path} archive_limit_bytes=1",
    ]  # fmt: skip
    home = {"ANSIBLE_LOCAL_TEMP": str(tmp_path / "l"), "ANSIBLE_REMOTE_TEMP": str(tmp_path / "r")}
    done = subprocess.run(
        command, cwd=REPOSITORY / "ansible", env={**os.environ, **home}, check=False,
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    answer = json.loads(done.stdout.partition("=>")[2])
    assert answer["mitigauge"]["job"]["state"] == "missing"
