"""A patch that needs less context may move within its function, and into no other one."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any, cast

import pytest

from mitigauge.core.settings import REPOSITORY
from mitigauge.kernels.config_profile import Profile, profile_of
from mitigauge.kernels.loose_patch import Hunk, bases, hunks, misplaced, moved
from mitigauge.kernels.patch import Patch
from mitigauge.storage.files.blobs import BlobStore
from pipelines.adapters.build_root import BuildRoot
from pipelines.adapters.git_tree import GitTree
from pipelines.kernel_order import BuildFailed, Order
from pipelines.kernel_work import LogLines, Work

SCRIPTS = REPOSITORY / "pipelines" / "kernel_scripts"
ONE = """\
int one(void)
{
\tint a = 1;
\tint b = 2;
\tint c = 3;
\tint x = 4;
\treturn a + b + c + x;
}
"""
TWO = ONE.replace("one", "two")
# Written against a tree whose third line before the change was another one.
PATCH = """\
--- a/x.c
+++ b/x.c
@@ -3,7 +3,7 @@ int {name}(void)
 \tint older = 1;
 \tint b = 2;
 \tint c = 3;
-\tint x = 4;
+\tint x = 5;
 \treturn a + b + c + x;
 }}
"""


def applied(tmp_path: Path, tree: str, patch: str, context: int = 2) -> tuple[int, str]:
    """Run the script on a tree of one file; its exit code, and the difference that it leaves."""
    for name in ("source", "patches", "package"):
        (tmp_path / name).mkdir(exist_ok=True)
    (tmp_path / "source" / "x.c").write_text(tree)
    (tmp_path / "patches" / "0001.patch").write_text(patch)
    script = tmp_path / "script"
    text = (SCRIPTS / "apply-loosely").read_text()
    script.write_text(text.replace("/build/", f"{tmp_path}/"))
    done = subprocess.run(
        ["bash", script],
        env={"PATH": "/usr/bin:/bin", "PATCH": "0001", "CONTEXT": str(context), "HOME": "/tmp"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    left = tmp_path / "package" / "loose.diff"
    return done.returncode, left.read_text() if left.exists() else done.stderr


def patch(name: str) -> str:
    """The patch, of a function of that name."""
    text = PATCH.format(name=name)
    return text.replace("-3,7 +3,7", "-3,6 +3,6")


def test_a_patch_whose_outer_context_differs_applies_with_two_lines(tmp_path: Path) -> None:
    status, diff = applied(tmp_path, ONE, patch("one"))
    assert status == 0, diff
    assert misplaced(patch("one"), diff) == ""
    assert moved(patch("one"), diff) == "where it says"
    assert (tmp_path / "source" / "x.c").read_text() == ONE


def test_one_that_would_land_in_another_function_is_misplaced(tmp_path: Path) -> None:
    status, diff = applied(tmp_path, TWO, patch("one"))
    assert status == 0, diff
    assert misplaced(patch("one"), diff) == "its change of one() in x.c would be in two()"


def test_one_that_needs_less_than_two_lines_does_not_apply(tmp_path: Path) -> None:
    tree = ONE.replace("int c = 3", "int d = 3").replace("int b = 2", "int e = 2")
    status, _ = applied(tmp_path, tree, patch("one"))
    assert status != 0


def test_a_declaration_in_a_hunk_s_head_is_no_function() -> None:
    """As in patch 3 of the series: the head is whatever begins a line before the hunk."""
    meant = "+++ b/h.h\n@@ -389,7 +389,7 @@ extern void entry_untrain_ret(void);\n"
    found = "+++ b/h.h\n@@ -446,7 +446,7 @@ extern void bpf_arch_ibpb(void);\n"
    assert misplaced(meant, found) == ""
    assert moved(meant, found) == "h.h:446 for 389"


@pytest.mark.parametrize(
    ("head", "function"),
    [
        ("static int emit(u8 **pprog, u8 *ip,", "emit"),
        ("SYM_FUNC_START(clear_bhb_loop)", "clear_bhb_loop"),
        ("extern void one(void);", ""),
        ("enum bhi_mitigations {", ""),
        ("#define CALL(name)", ""),
        ("config MITIGATION_TSA", ""),
        ("", ""),
    ],
)
def test_a_function_is_told_from_a_hunk_s_head(head: str, function: str) -> None:
    assert list(hunks(f"+++ b/f.c\n@@ -1,2 +1,2 @@ {head}\n")) == [Hunk("f.c", 1, function)]


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_a_new_file_and_a_file_that_goes_are_compared_too(tmp_path: Path) -> None:
    text = "--- /dev/null\n+++ b/new.c\n@@ -0,0 +1 @@\n+int n;\n" + patch("one")
    status, diff = applied(tmp_path, ONE, text)
    assert status == 0, diff
    assert {hunk.file for hunk in hunks(diff)} == {"new.c", "x.c"}


def test_bases_are_the_contents_that_files_had() -> None:
    text = "index 1234567..89abcde 100644\nindex 0000000..1111111\nindex zz..yy\n"
    assert bases(text) == ["1234567"]


def git(tree: Path, *words: str) -> str:
    """Run git in a tree; what it printed."""
    done = subprocess.run(
        ["git", "-c", "user.name=T", "-c", "user.email=t@example.org", "-C", tree, *words],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout


@pytest.fixture
def merging(tmp_path: Path) -> tuple[GitTree, str, str]:
    """A tree, a patch made from an older commit, and the file as it is now: too far for -C2."""
    tree = tmp_path / "tree"
    tree.mkdir()
    git(tree, "init", "--quiet")
    (tree / "x.c").write_text(ONE)
    git(tree, "add", ".")
    git(tree, "commit", "--quiet", "--message", "base")
    (tree / "x.c").write_text(ONE.replace("x = 4", "x = 5"))
    patch = git(tree, "diff")
    now = ONE.replace("int b = 2", "int b = 22")
    (tree / "x.c").write_text(now)
    git(tree, "commit", "--all", "--quiet", "--message", "now")
    return GitTree(tree), patch, now


def work(tmp_path: Path, tree: GitTree, patch: str) -> tuple[list[str], Order]:
    """Lay out and apply as a build does, without its sandbox; what applied loosely."""
    order = Order("f" * 40, profile_of("lab"), [Patch("title", patch)], tree=tree, loose=True)
    unpacked = tmp_path / "build" / "source"
    unpacked.mkdir(parents=True)
    git(tree.directory, "archive", "--output", f"{tmp_path}/a.tar", "HEAD")
    subprocess.run(["tar", "-xf", tmp_path / "a.tar", "-C", unpacked], check=True)
    build = unconfined(tmp_path / "build")
    build._lay_out(order)
    return build._apply(order), order


class Unconfined(Work):
    """A build whose scripts run here, on paths of its own."""

    def _run(self, script: str, writable: Any, limits: Any, variables: Any = None,
             caches: Any = None) -> tuple[int, LogLines]:  # fmt: skip
        text = (SCRIPTS / script).read_text().replace("/build/", f"{self.directory}/")
        begins = self.log.stat().st_size if self.log.exists() else 0
        with self.log.open("a") as log:
            done = subprocess.run(
                ["bash", "-c", text], stdout=log, stderr=log, check=False,
                env={"PATH": "/usr/bin:/bin", "HOME": "/tmp", **variables},
            )  # fmt: skip
        return done.returncode, LogLines(self.log, begins)


def unconfined(directory: Path) -> Unconfined:
    """Such a build in a directory; what it does asks for no root and stores nothing."""
    root, blobs = cast(BuildRoot, None), cast(BlobStore, None)
    return Unconfined(directory, root, directory, blobs, print, print, str)


MAKEFILE = """\
olddefconfig:
\tsed --in-place '/CONFIG_GONE/d' $(O)/.config
"""


@pytest.mark.parametrize(("more", "said"), [("", "did not take CONFIG_GONE=y: not set: "),
                                            ("# optional: CONFIG_GONE\n", "")])  # fmt: skip
def test_an_option_that_this_kernel_does_not_have_ends_the_build_unless_it_may(
    tmp_path: Path, more: str, said: str
) -> None:
    source = tmp_path / "source"
    (source / "scripts").mkdir(parents=True)
    (source / "Makefile").write_text(MAKEFILE)
    (source / "scripts" / "config").write_text("#!/bin/sh\n")
    (source / "scripts" / "config").chmod(0o755)
    profile = Profile("mine", f"{more}CONFIG_KEPT=y\nCONFIG_GONE=y\n", whole=True)
    build = unconfined(tmp_path)
    order = Order("f" * 40, profile, [])
    build._lay_out(order)
    if said:
        with pytest.raises(BuildFailed, match=said) as failed:
            build._configure(order)
        assert "# optional: CONFIG_A CONFIG_B" in failed.value.hint
    else:
        build._configure(order)
        assert (tmp_path / "out/.config").read_text() == "CONFIG_KEPT=y\n"


def test_what_hosts_of_one_kernel_have_otherwise_is_told_and_kept_short(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = "".join(f"# note: CONFIG_N{n}=1, of b: CONFIG_N{n}=2, of a\n" for n in range(12))
    build = unconfined(tmp_path)
    order = Order("f" * 40, Profile("both", f"{lines}CONFIG_KEPT=y\n", whole=True), [])
    build._lay_out(order)
    with pytest.raises(BuildFailed):
        build._configure(order)  # there is no tree
    told = capsys.readouterr().out
    assert "not taken: CONFIG_N0=1, of b: CONFIG_N0=2, of a, CONFIG_N1=1" in told
    assert "and 2 more" in told


def test_a_patch_is_merged_where_the_tree_has_what_it_was_made_from(
    tmp_path: Path, merging: tuple[GitTree, str, str]
) -> None:
    tree, patch, now = merging
    said, _ = work(tmp_path, tree, patch)
    assert said == ["patch 1/1 'title', a three-way merge: where it says"]
    assert (tmp_path / "build/source/x.c").read_text() == now.replace("x = 4", "x = 5")


def test_it_is_not_merged_without_that_file(
    tmp_path: Path, merging: tuple[GitTree, str, str]
) -> None:
    tree, patch, now = merging
    unknown = re.sub(r"^index [0-9a-f]{7}", "index 1234567", patch, flags=re.M)
    with pytest.raises(BuildFailed, match="patch 1/1 'title'"):
        work(tmp_path, tree, unknown)
    assert (tmp_path / "build/source/x.c").read_text() == now


def test_a_conflict_is_a_failure(tmp_path: Path, merging: tuple[GitTree, str, str]) -> None:
    tree, patch, now = merging
    (tree.directory / "x.c").write_text(now.replace("x = 4", "x = 9"))
    git(tree.directory, "commit", "--all", "--quiet", "--message", "conflict")
    with pytest.raises(BuildFailed, match="patch 1/1 'title'"):
        work(tmp_path, tree, patch)


def test_a_merge_of_another_function_is_misplaced(
    tmp_path: Path, merging: tuple[GitTree, str, str]
) -> None:
    tree, patch, now = merging
    (tree.directory / "x.c").write_text(now.replace("one", "two"))
    git(tree.directory, "commit", "--all", "--quiet", "--message", "renamed")
    far = patch.replace("@@ int one(void)", "@@").replace(" @@\n", " @@ int one(void)\n")
    with pytest.raises(BuildFailed):
        work(tmp_path, tree, far)
