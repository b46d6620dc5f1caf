"""What travels to hosts runs by the oldest Python that `mitigauge host check` takes there."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mitigauge.core.settings import REPOSITORY
from mitigauge.measurement.fleet.check import OLDEST_PYTHON

PLACES = ("ansible/module_utils", "ansible/roles", "mitigauge/core/wire", "workloads")
OLDEST = ".".join(map(str, OLDEST_PYTHON))
VERMIN = Path(sys.executable).with_name("vermin")
# What may stand beside | in a type and in no arithmetic.
TYPES = {"bool", "bytes", "dict", "float", "frozenset", "int", "list", "set", "str", "tuple"}
# Methods of types that vermin cannot tell, which came later.
LATER_METHODS = {"bit_count", "hardlink_to"}


def sources() -> list[Path]:
    """Modules and programs in Python, of which those of workloads have no suffix."""
    found = []
    for place in PLACES:
        for path in sorted((REPOSITORY / place).rglob("*")):
            if "fixtures" in path.parts or "__pycache__" in path.parts or not path.is_file():
                continue
            if path.suffix == ".py" or (path.name == "run" and b"python" in path.read_bytes()[:40]):
                found.append(path)
    return found


def complaints(paths: list[Path]) -> str:
    """What vermin says needs a later Python; empty where nothing does."""
    done = subprocess.run(
        [VERMIN, f"--target={OLDEST}-", "--no-tips", "--no-eval-annotations", "--violations",
         "-vvv", "--quiet", *paths],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stdout if done.returncode else ""


def names_type(node: ast.AST) -> bool:
    """Whether it is None, or a type by its name: a built-in one, or in camel case."""
    if isinstance(node, ast.Constant):
        return node.value is None
    while isinstance(node, ast.Subscript):
        node = node.value
    name = getattr(node, "id", getattr(node, "attr", ""))
    return name in TYPES or (name[:1].isupper() and not name.isupper())


def later_words(tree: ast.AST) -> list[str]:
    """Unions of types where they are evaluated, and methods of later Pythons."""
    annotations = {
        id(inner)
        for node in ast.walk(tree)
        for field in ("annotation", "returns")
        if isinstance(getattr(node, field, None), ast.AST)
        for inner in ast.walk(getattr(node, field))
    }
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            is_type = names_type(node.left) or names_type(node.right)
            if is_type and id(node) not in annotations:
                found.append(f"line {node.lineno}: {ast.unparse(node)}")
        elif isinstance(node, ast.Attribute) and node.attr in LATER_METHODS:
            found.append(f"line {node.lineno}: {node.attr}")
    return found


def test_nothing_that_travels_needs_a_later_python() -> None:
    paths = sources()
    assert len(paths) > 100
    assert complaints(paths) == ""


def test_no_union_of_types_is_evaluated() -> None:
    found = {
        str(path.relative_to(REPOSITORY)): words
        for path in sources()
        if (words := later_words(ast.parse(path.read_text())))
    }
    assert found == {}


@pytest.mark.parametrize(
    "text",
    [
        "from datetime import UTC\n",
        "import hashlib\nhashlib.file_digest(open('x', 'rb'), 'sha256')\n",
        "dict(zip('a', 'b', strict=True))\n",
        "match 1:\n    case 1:\n        pass\n",
        "from dataclasses import dataclass\n@dataclass(slots=True)\nclass A:\n    pass\n",
        "import tomllib\n",
        "try:\n    pass\nexcept* OSError:\n    pass\n",
        "from enum import StrEnum\n",
    ],
)
def test_what_came_later_is_found(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.py").write_text(text)
    assert "x.py" in complaints([tmp_path / "x.py"])


@pytest.mark.parametrize(
    "text",
    ["isinstance(1, int | str)", "X = None | int", "x.bit_count()", "X = a.Loop | b.Other[int]"],
)
def test_a_union_that_is_evaluated_is_found(text: str) -> None:
    assert later_words(ast.parse(text)) != []
    assert (
        later_words(ast.parse("def f(x: int | None) -> str | None:\n    y: int | str = a | b"))
        == []
    )


def oldest_python() -> str:
    """The program; empty where this machine has none that runs."""
    program = shutil.which(f"python{OLDEST}")
    if program is None:
        return ""
    # A version manager's stand-in may be there without the version.
    done = subprocess.run([program, "--version"], capture_output=True, check=False)
    return "" if done.returncode else program


@pytest.mark.skipif(not oldest_python(), reason=f"needs Python {OLDEST}")
def test_modules_load_with_the_oldest_python(tmp_path: Path) -> None:
    """As Ansible packs them: `ansible.module_utils` is a package beside them."""
    package = tmp_path / "ansible/module_utils"
    shutil.copytree(REPOSITORY / "ansible/module_utils", package)
    for folder in (package, package.parent):
        (folder / "__init__.py").touch()
    (package / "basic.py").write_text("AnsibleModule = None\n")
    # Plugins are the control side's.
    own = [p for p in sources() if "_plugins" not in p.parent.name and "wire" not in p.parts]
    program = (
        "import runpy, sys\n"
        "began = sys.path[:], set(sys.modules)\n"
        "for path in sys.argv[1:]:\n"
        "    sys.path[:] = [path.rpartition('/')[0], *began[0]]\n"
        "    for name in set(sys.modules) - began[1]:\n"
        "        del sys.modules[name]\n"
        "    runpy.run_path(path, run_name='loaded')\n"
    )
    done = subprocess.run(
        [oldest_python(), "-c", program, *map(str, own)],
        env={**os.environ, "PYTHONPATH": f"{tmp_path}:{REPOSITORY / 'workloads'}",
             "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
