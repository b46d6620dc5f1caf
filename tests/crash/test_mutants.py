"""The list of mutations is true, and the runner tells who survives."""

from __future__ import annotations

from pathlib import Path

import pytest

from mitigauge.core.settings import REPOSITORY
from tests.crash.mutants import CannotApply, copy_tree, mutated, run_tests, tried
from tests.crash.mutation import Mutation
from tests.crash.mutations import MUTATIONS

CODE = "def limit(n):\n    return min(n, 3)\n"
NOTICES = "from code_under_test import limit\n\ndef test_limit():\n    assert limit(9) == 3\n"
BLIND = "from code_under_test import limit\n\ndef test_limit():\n    assert limit(1) == 1\n"


def fault(tests: str, old: str = "min(n, 3)") -> Mutation:
    return Mutation("no limit", "code_under_test.py", old, "n", (tests,), "because")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A project of one function, a test that notices and one that does not."""
    (tmp_path / "code_under_test.py").write_text(CODE)
    (tmp_path / "test_notices.py").write_text(NOTICES)
    (tmp_path / "test_blind.py").write_text(BLIND)
    return tmp_path


def test_a_copy_of_the_tree_has_what_links_lead_to(tmp_path: Path) -> None:
    copy = copy_tree(tmp_path / "copy")
    link = copy / "workloads" / "_kit" / "wire"
    assert link.is_symlink()
    assert (link / "case.py").read_bytes() == (copy / "mitigauge/core/wire/case.py").read_bytes()


def test_commands_of_a_mutations_tests_are_those_of_the_copy(tmp_path: Path) -> None:
    package = tmp_path / "cli"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "main.py").write_text("def main():\n    print('the copy')\n")
    (tmp_path / "test_it.py").write_text(
        "import subprocess, sys\nfrom pathlib import Path\n\ndef test_it():\n"
        "    command = Path(sys.executable).with_name('mitigauge')\n"
        "    said = subprocess.run([command], capture_output=True, text=True).stdout\n"
        "    assert said == 'the copy\\n'\n"
    )
    assert run_tests(tmp_path, ["test_it.py"])[0] == 0


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_every_mutation_can_be_applied_and_has_tests(mutation: Mutation) -> None:
    code = (REPOSITORY / mutation.file).read_text()
    text = mutated(mutation, code)
    if mutation.file.endswith(".py"):
        compile(text, mutation.file, "exec")
    assert all((REPOSITORY / test.split("::")[0]).is_file() for test in mutation.tests)
    assert mutation.why.endswith(".")


def test_a_mutation_that_a_test_notices_is_noticed_by_name(tree: Path) -> None:
    fate = tried(fault("test_notices.py"), tree)
    assert (fate.fate, fate.by) == ("noticed", "test_notices.py::test_limit")
    assert (tree / "code_under_test.py").read_text() == CODE


def test_a_mutation_that_no_test_notices_survives(tree: Path) -> None:
    assert tried(fault("test_blind.py"), tree).fate == "survived"


def test_tests_that_do_not_run_notice_nothing(tree: Path) -> None:
    fate = tried(fault("test_gone.py"), tree)
    assert not fate.good
    assert fate.fate.startswith("its tests did not run")


@pytest.mark.parametrize("old", ["max(n, 3)", "n", ""])
def test_an_old_text_that_is_not_there_once_is_an_error(tree: Path, old: str) -> None:
    with pytest.raises(CannotApply, match="not once"):
        mutated(fault("test_notices.py", old), CODE)
    assert "cannot be applied" in tried(fault("test_notices.py", old), tree).fate
