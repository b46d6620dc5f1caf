"""Candidate kernels in the database: begun, built, failed, brought in, removed."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from sqlalchemy import Engine, select, update
from sqlalchemy.orm import Session

from mitigauge.analysis.verdicts.service import design_of
from mitigauge.core.errors import InvalidInput, NotFound
from mitigauge.core.settings import get_settings
from mitigauge.kernels import repository, service
from mitigauge.kernels.patch import Patch
from mitigauge.kernels.recipe import Base, Layout, Recipe, Toolchain, layouts
from mitigauge.kernels.schemas import KernelView
from mitigauge.kernels.service import Built
from mitigauge.kernels.states import KernelState
from mitigauge.kernels.tables import Kernel
from mitigauge.measurement.experiments.spec import read_spec
from mitigauge.measurement.experiments.submit import store_experiment
from mitigauge.measurement.experiments.tables import Experiment
from mitigauge.measurement.fleet.kernel_profiles import require_bootable
from mitigauge.measurement.runs.submission import submit
from mitigauge.storage.files.blobs import BlobStore, blob_store
from pipelines import series_run
from pipelines.built_files import regular
from pipelines.kernel_build import Builder
from pipelines.kernel_order import BuildFailed
from tests.commands import Command
from tests.series_mails import diff
from tests.specs import CATALOG, HOSTS, SPEC, inventory

PATCH = Patch("count what is counted", "diff --git a/x b/x\n")
RECIPE = Recipe(
    base=Base("linux-source-7.2", "7.2.12-1"),
    patches=(PATCH.sha256,),
    profile="lab",
    profile_sha256="c" * 64,
    toolchain=Toolchain("debian-trixie", ("gcc-14 14.2.0-19",)),
    scripts_sha256="f" * 64,
)
RELEASE = f"7.2.12{RECIPE.local_version}"


def built(release: str = RELEASE, package: bytes = b"deb") -> Built:
    digest = hashlib.sha256(package).hexdigest()
    return Built(release, "ab" * 20, "cd" * 32, digest, len(package), ["CONFIG_X=y: not set"])


def test_a_kernel_is_begun_once_and_then_found(engine: Engine) -> None:
    with Session(engine) as session:
        first = service.begin(session, RECIPE, [PATCH], "v1")
        assert first.state == KernelState.BUILDING
        service.finished(session, RECIPE.digest, built(), "e" * 64)
        again = service.begin(session, RECIPE, [PATCH], "")
        assert (again.id, again.state, again.label) == (first.id, KernelState.BUILT, "v1")
        assert set(repository.built(session, [RELEASE, "6.12.9-amd64"])) == {RELEASE}


def test_one_that_was_killed_is_noted_by_the_next_build(engine: Engine, tmp_path: Path) -> None:
    with Session(engine) as session:
        service.begin(session, RECIPE, [PATCH], "v1")
        session.commit()
    left = tmp_path / "builds" / RECIPE.digest[:16]
    left.mkdir(parents=True)
    left.with_suffix(".lock").touch()
    Builder(tmp_path, engine, blob_store(get_settings()))._sweep()
    assert not left.exists()
    with Session(engine) as session:
        kernel = service.show(session, "v1")
        assert (kernel.state, kernel.error) == (
            KernelState.FAILED,
            "its build was killed: build it again",
        )


def test_one_that_failed_keeps_why_and_is_begun_anew(engine: Engine) -> None:
    with Session(engine) as session:
        service.begin(session, RECIPE, [PATCH], "v1")
        service.failed(session, RECIPE.digest, "patch 1/1: no" + "o" * 9000, "e" * 64)
        kernel = service.show(session, "v1")
        assert kernel.state == KernelState.FAILED
        assert len(kernel.error) == service.LONGEST_ERROR
        assert service.begin(session, RECIPE, [PATCH], "").error == ""


def test_a_kernel_is_found_by_release_label_and_digest(engine: Engine) -> None:
    with Session(engine) as session:
        service.begin(session, RECIPE, [PATCH], "v1")
        service.finished(session, RECIPE.digest, built(), "e" * 64)
        for name in (RELEASE, "v1", RECIPE.digest[:8], RECIPE.digest):
            assert service.show(session, name).release == RELEASE
        for name in ("nope", "%", "7.2.12"):
            with pytest.raises(NotFound, match="kernel list"):
                service.show(session, name)
        told = "\n".join(KernelView.model_validate(service.show(session, "v1")).lines())
        assert "count what is counted" in told
        assert "config did not take CONFIG_X=y: not set" in told


def test_one_that_is_brought_in_twice_is_one_kernel(engine: Engine) -> None:
    with Session(engine) as session:
        first = service.brought_in(session, built("6.19.0-mine"), "mine")
        assert service.brought_in(session, built("6.19.0-mine"), "").id == first.id
        with pytest.raises(InvalidInput, match="stored already, from another package"):
            service.brought_in(session, built("6.19.0-mine", b"other"), "")


def test_one_that_is_removed_names_no_package_and_is_built_again(engine: Engine) -> None:
    with Session(engine) as session:
        kernel = service.begin(session, RECIPE, [PATCH], "v1")
        service.finished(session, RECIPE.digest, built(), "e" * 64)
        service.remove(session, kernel)
        session.flush()
        assert repository.built(session, [RELEASE]) == {}
        assert service.begin(session, RECIPE, [PATCH], "").state == KernelState.BUILDING


@pytest.fixture
def blobs(home: Path) -> BlobStore:
    return blob_store(get_settings())


def test_what_a_build_leaves_is_read_as_a_regular_file_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / "secret")
    for name, why in (
        ("link", "Too many levels"),
        ("absent", "No such file"),
        ("big", "more than"),
    ):
        if name == "big":
            (tmp_path / name).write_bytes(b"x" * 11)
        with pytest.raises(BuildFailed, match=why):
            regular(tmp_path / name, 10)
    assert regular(tmp_path / "secret", 10) == b"x"


def test_a_builder_needs_its_tools_and_says_which(
    engine: Engine, blobs: BlobStore, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mitigauge.core.errors import NotReady
    from mitigauge.kernels.config_profile import profile_of
    from pipelines.kernel_order import Order

    monkeypatch.setenv("PATH", str(home))
    builder = Builder(home / "kernels", engine, blobs)
    with pytest.raises(NotReady, match="bwrap is not installed") as refused:
        builder.build(Order("linux-source-7.2", profile_of("lab")))
    assert refused.value.hint == "apt-get install bubblewrap"


def test_an_arm_may_name_a_kernel_by_its_label(engine: Engine) -> None:
    text = SPEC.replace("mode: knob/on}", "mode: knob/on, kernel: built/v1}")
    spec = read_spec(text, name="spec", catalog=CATALOG, hosts=HOSTS)
    with Session(engine) as session:
        with pytest.raises(NotFound, match="no kernel 'v1'"):
            store_experiment(session, spec, text, catalog=CATALOG, submitted_by="test")
        session.rollback()
        service.begin(session, RECIPE, [PATCH], "v1")
        with pytest.raises(InvalidInput, match="kernel built/v1 is building"):
            store_experiment(session, spec, text, catalog=CATALOG, submitted_by="test")
        service.finished(session, RECIPE.digest, built(), "e" * 64)
        stored = store_experiment(session, spec, text, catalog=CATALOG, submitted_by="test")
        kernels = {arm.name: arm.kernel for arm in stored.comparisons[0].arms}
    assert kernels == {"off": "", "on": RELEASE}


def build_in(session: Session, label: str, patches: list[Patch], layout: Layout) -> str:
    """Store a kernel as built in a layout; its release."""
    recipe = replace(RECIPE, patches=tuple(patch.sha256 for patch in patches), layout=layout)
    service.begin(session, recipe, patches, label)
    release = f"7.2.12{recipe.local_version}"
    service.finished(session, recipe.digest, built(release, release.encode()), "e" * 64)
    return release


def test_an_arm_boots_its_kernel_s_layouts_block_by_block_in_turn(engine: Engine) -> None:
    text = SPEC.replace("mode: knob/on}", "mode: knob/on, kernel: built/v1}")
    text = text.replace("mode: knob/off}", "mode: knob/off, kernel: built/v0}")
    text = text.replace("    baseline:", "    layouts: 2\n    baseline:")
    spec = read_spec(text, name="spec", catalog=CATALOG, hosts=HOSTS)
    plain, other = layouts(2)
    with Session(engine) as session:
        own = [build_in(session, "v1", [PATCH], layout) for layout in (other, plain)]
        build_in(session, "v0", [], plain)
        with pytest.raises(InvalidInput, match="was built in 1 of 2 layouts"):
            store_experiment(session, spec, text, catalog=CATALOG, submitted_by="test")
        build_in(session, "v0", [], other)
        stored = store_experiment(session, spec, text, catalog=CATALOG, submitted_by="test")
        comparison = stored.comparisons[0]
        on = next(arm for arm in comparison.arms if arm.name == "on")
        assert (comparison.layouts, on.builds, on.kernel) == (2, own[::-1], own[1])
        assert [on.release_in(block) for block in (1, 2, 3)] == [own[1], own[0], own[1]]
        assert design_of(comparison).layouts == 2


def test_a_profile_that_changed_under_its_name_gives_no_layout_of_an_earlier_kernel(
    engine: Engine,
) -> None:
    plain, other = layouts(2)
    with Session(engine) as session:
        release = build_in(session, "v1", [PATCH], plain)
        changed = replace(RECIPE, profile_sha256="d" * 64, layout=other)
        service.begin(session, changed, [PATCH], "v1 of another configuration")
        service.finished(session, changed.digest, built("7.2.12-other"), "e" * 64)
        with pytest.raises(InvalidInput, match="was built in 1 of 2 layouts"):
            service.in_layouts(session, release, 2)
        own = build_in(session, "v1", [PATCH], other)
        assert service.in_layouts(session, release, 2) == [release, own]


def test_two_recipes_of_one_release_are_an_error_that_names_both(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mitigauge.kernels.recipe.DIGITS", 0)
    with Session(engine) as session:
        service.begin(session, RECIPE, [PATCH], "v1")
        service.finished(session, RECIPE.digest, built(f"7.2.12{RECIPE.local_version}"), "e" * 64)
        other = replace(RECIPE, patches=())
        with pytest.raises(InvalidInput, match="two recipes have the release …-mg") as refused:
            service.begin(session, other, [], "v2")
        assert RECIPE.digest[:40] in refused.value.message
        assert other.digest[:40] in refused.value.message
        # The same recipe again is no second one.
        assert service.begin(session, RECIPE, [PATCH], "").state == KernelState.BUILT


def test_a_release_that_was_removed_may_be_brought_in_from_another_package(
    engine: Engine,
) -> None:
    with Session(engine) as session:
        first = service.brought_in(session, built("6.19.0-mine"), "mine")
        service.remove(session, first)
        second = service.brought_in(session, built("6.19.0-mine", b"other"), "")
        assert second.id != first.id
        assert service.show(session, "6.19.0-mine").id == second.id
        with pytest.raises(InvalidInput, match="stored already, from another package"):
            service.brought_in(session, built("6.19.0-mine"), "")


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ("layouts: 2", "arm 'off' has no kernel: layouts are of kernels that were built here"),
        ("layouts: 3", "3 layouts in 2 blocks: each needs a block of its own"),
    ],
)
def test_layouts_need_kernels_of_ours_and_a_block_each(more: str, problem: str) -> None:
    text = SPEC.replace("    baseline:", f"    {more}\n    baseline:")
    with pytest.raises(InvalidInput, match=problem):
        read_spec(text, name="spec", catalog=CATALOG, hosts=HOSTS)


def test_a_kernel_of_the_lab_s_profile_is_refused_on_a_real_host(engine: Engine) -> None:
    text = SPEC.replace("mode: knob/on}", "mode: knob/on, kernel: built/v1}")
    spec = read_spec(text, name="spec", catalog=CATALOG, hosts=HOSTS)
    real = {"alpha": replace(inventory("alpha")["alpha"], emulated=False)}
    with Session(engine) as session:
        release = build_in(session, "v1", [PATCH], layouts(1)[0])
        refused = rf"{re.escape(release)} has the config profile 'lab'"
        with pytest.raises(InvalidInput, match=refused) as no:
            submit(session, spec, text, catalog=CATALOG, hosts=real)
        assert "emulated hosts alone: drivers of disk and network card of alpha" in no.value.message
        assert "--profile as-host:ENVIRONMENT/HOST" in no.value.hint
        # Nothing is left of what was refused.
        assert session.scalars(select(Experiment)).all() == []
        assert submit(session, spec, text, catalog=CATALOG, hosts=inventory("alpha"))
        session.execute(update(Kernel).values(profile="/boot/config-6.12"))
        assert submit(session, spec, text, catalog=CATALOG, hosts=real)


def test_a_series_for_real_hosts_is_refused_before_its_kernels_are_built(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = {"alpha": replace(inventory("alpha")["alpha"], emulated=False)}
    monkeypatch.setattr(series_run, "environment_names", lambda: ["lab"])
    monkeypatch.setattr(series_run, "load_hosts", lambda _: real)
    assert [host.name for host in series_run.hosts_in(SPEC)] == ["alpha"]
    with pytest.raises(InvalidInput, match="series toys has the config profile 'lab'"):
        require_bootable("lab", "series toys", series_run.hosts_in(SPEC))
    require_bootable("lab", "series toys", inventory("alpha").values())


@dataclass(frozen=True)
class RacksCommand(Command):
    """The command with an environment `racks` of two real hosts."""

    @property
    def environment(self) -> dict[str, str]:
        return {**super().environment, "MITIGAUGE_ENVIRONMENTS": str(self.home / "own")}


def test_a_kernel_for_real_hosts_that_nobody_checked_is_refused_by_the_commands(
    home: Path, database_url: str
) -> None:
    hosts = home / "own/racks/hosts.yml"
    hosts.parent.mkdir(parents=True)
    host = {"ansible_host": "192.0.2.1", "mitigauge_class": "icx"}
    hosts.write_text(json.dumps({"all": {"hosts": {"icx-01": host, "icx-02": host}}}))
    command = RacksCommand(home, database_url)
    patch = home / "one.patch"
    patch.write_text(diff("toys/one.c", "a", "b"))
    said = command.run("kernel", "build", "--environment", "racks", "--no-wait", code=1).stderr
    assert "the configuration of racks/icx-01, racks/icx-02 is not known" in said
    assert "mitigauge host check HOST --environment racks" in said
    said = command.run(
        "bisect", "start", patch, "--environment", "racks", "--host", "icx-02", "--no-wait", code=1
    ).stderr
    assert "the configuration of racks/icx-02 is not known" in said
