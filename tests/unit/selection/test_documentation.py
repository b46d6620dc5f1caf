"""The kernel's list of parameters, and one file of a tree as patches leave it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from mitigauge.core.settings import REPOSITORY
from mitigauge.measurement.selection.documentation import (
    PARAMETERS as FILE,
)
from mitigauge.measurement.selection.documentation import (
    documented_states,
    documented_words,
    words_of_page,
)
from pipelines.adapters.patched_file import patched_file

# As Linux 7.2 has it, with the entries around.
TEXT = (REPOSITORY / "tests/fixtures/selection/kernel-parameters.txt").read_text()
MOST = 1 << 20


def test_words_are_those_of_the_options_own_entry() -> None:
    assert documented_words(TEXT, "vmscape") == {"off", "ibpb", "force"}
    # Its words have no dash behind them, so nothing is known of them.
    assert documented_words(TEXT, "vsyscall") is None
    assert documented_words(TEXT, "vmpoff") is None
    assert documented_words(TEXT, "spectre_v2") is None


@pytest.mark.parametrize(
    "text", ["", "\0" * 1000, "\tvmscape=", "\t" * 10_000, "vmscape=\n\t\toff -"]
)
def test_a_text_that_is_no_list_lists_nothing(text: str) -> None:
    assert documented_words(text, "vmscape") is None


# Both forms in which pages list states: items with a text below, and a table of items.
PAGE = """
The possible values in this file are:

 * 'Not affected':

   Not this processor.

 * 'Mitigation: Barrier before exit':

   A barrier, not 'Vulnerable' any more.

  .. list-table::

     * - 'Vulnerable: Attempted, no microcode'
       - A best effort.

    ==================  ===============
    'SMT vulnerable'    beside the above
    ==================  ===============

 * ``vmscape=off``:

   Nothing.

 * ``vmscape=ibpb``:
 - ``other-name=on``: in prose ``vmscape=never`` is no item.
"""


def test_a_page_lists_states_and_words_by_its_items() -> None:
    assert documented_states(PAGE) == {
        "Not affected", "Mitigation: Barrier before exit", "Vulnerable: Attempted, no microcode",
    }  # fmt: skip
    assert words_of_page(PAGE, "vmscape") == {"off", "ibpb"}
    assert words_of_page(PAGE, "other_name") == {"on"}
    assert words_of_page(PAGE, "mds") is None


@pytest.mark.parametrize(
    "text", ["", "'" * 100_000, " * 'Not affected':", "\t" * 100_000, " * ``vmscape=", "* ''"]
)
def test_a_page_without_mitigations_lists_no_states(text: str) -> None:
    assert documented_states(text) is None
    assert words_of_page(text, "vmscape") is None


def made_tree(where: Path) -> Path:
    file = where / "tree" / FILE
    file.parent.mkdir(parents=True)
    file.write_text(TEXT)
    (where / "tree" / "other.c").write_text("int one;\n")
    return where / "tree"


def patch_of(tree: Path, old: str, new: str) -> str:
    """A patch that changes the list and another file, as git makes it."""
    a, b = tree.with_name("a"), tree.with_name("b")
    for side, words in ((a, old), (b, new)):
        subprocess.run(["cp", "-r", tree, side], check=True)
        file = side / FILE
        file.write_text(file.read_text().replace(old, words))
        (side / "other.c").write_text(f"int {side.name};\n")
    done = subprocess.run(
        ["git", "diff", "--no-index", "--no-prefix", "a", "b"],
        cwd=tree.parent, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    return done.stdout


def test_a_patch_changes_the_one_file_and_needs_no_other(tmp_path: Path) -> None:
    tree = made_tree(tmp_path)
    patch = patch_of(tree, "\t\t\tforce", "\t\t\ton\t\t- same as auto\n\t\t\tforce")
    text = patched_file(tree, FILE, [patch], MOST)
    assert text is not None
    assert documented_words(text, "vmscape") == {"off", "ibpb", "force", "on"}
    assert (tree / FILE).read_text() == TEXT
    # Twice it does not apply, and so nothing is told.
    assert patched_file(tree, FILE, [patch, patch], MOST) is None
    assert patched_file(tree, FILE, [], MOST) == TEXT
    assert patched_file(tree, FILE, [], 10) is None
    assert patched_file(tree, "Documentation/none.txt", [], MOST) is None


def test_a_patch_that_makes_a_link_of_it_is_not_followed(tmp_path: Path) -> None:
    tree = made_tree(tmp_path)
    (tmp_path / "secret").write_text("secret")
    lines = "".join(f"-{line}\n" for line in TEXT.splitlines())
    patch = (
        f"diff --git a/{FILE} b/{FILE}\ndeleted file mode 100644\n--- a/{FILE}\n+++ /dev/null\n"
        f"@@ -1,{len(TEXT.splitlines())} +0,0 @@\n{lines}"
        f"diff --git a/{FILE} b/{FILE}\nnew file mode 120000\n--- /dev/null\n+++ b/{FILE}\n"
        f"@@ -0,0 +1 @@\n+{tmp_path}/secret\n\\ No newline at end of file\n"
    )
    assert patched_file(tree, FILE, [patch], MOST) is None
    gone = patch.partition("diff --git")[2].partition("diff --git")[0]
    assert patched_file(tree, FILE, [f"diff --git{gone}"], MOST) is None
