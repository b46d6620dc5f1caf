"""`mitigauge kernel`: candidate kernels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.bases import DEFAULT_BASE, Base, Loose
from cli.jobs import Wait, followed, print_asked
from cli.mails import LORE, patches_of, sent
from cli.output import Json, echo, print_json, print_table, remark, say
from cli.remote.choice import chosen_server, require_local
from cli.remote.routes import at
from cli.source import answer
from cli.stored import stored

# What takes long to load is imported by the commands that need it.
if TYPE_CHECKING:
    from collections.abc import Sequence

    from mitigauge.kernels.config_profile import Profile
    from mitigauge.kernels.order import KernelOrder
    from mitigauge.kernels.patch import Patch
    from mitigauge.kernels.schemas import KernelView

app = typer.Typer(no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="A release, a label, or how a digest begins.")]


@app.command()
def build(
    patches: Annotated[
        list[str] | None,
        typer.Argument(
            help="Patches, mailboxes, folders, quilt's too; or a message-id, for the latest "
            "revision of its thread; none: the base alone."
        ),
    ] = None,
    base: Base = DEFAULT_BASE,
    profile: Annotated[
        str,
        typer.Option(
            help="A config profile (`mitigauge kernel profiles`), as-host:ENVIRONMENT/HOST or "
            "…/HOST,HOST (the hosts' own; +local behind it: without modules that they have not "
            "loaded), or a .config's path. Without it: lab where the "
            "environment's hosts are emulated, else the own one of all its hosts."
        ),
    ] = "",
    environment: Annotated[
        str, typer.Option(help="The environment of the hosts that it is to boot.")
    ] = "lab",
    layouts: Annotated[
        int, typer.Option(help="Build it so often, each with functions at other addresses.")
    ] = 1,
    label: Annotated[str, typer.Option(help="A name for people, as v3 of a series.")] = "",
    check: Annotated[
        bool, typer.Option("--check", help="Say which patches would be applied, then end.")
    ] = False,
    archive: Annotated[str, typer.Option(help="Where a message-id is looked up.")] = LORE,
    loose: Loose = False,
    anew: Annotated[bool, typer.Option("--anew", help="Build what was built already.")] = False,
    wait: Wait = True,
    json: Json = False,
) -> None:
    """Have a kernel built in a sandbox, as a package that any Debian host can boot once.

    A worker builds it, and goes on where this command is ended; where none runs, one is started on
    this machine. The first build makes a root with Debian's compiler (some 3 minutes) and compiles
    everything; later ones compile what a patch touches. What was built already is not built again.
    """
    from mitigauge.kernels.order import KernelOrder

    found = patches_of(patches or [], archive)
    if check:
        _print_patches(found, json=json)
        return
    order = KernelOrder(base=base, label=label, layouts=layouts, loose=loose, anew=anew)
    job = _order(order, profile, environment, found)
    if not wait:
        print_asked(job, json=json)
        return
    _print(kernels_of(job), json=json)


def _order(order: KernelOrder, profile: str, environment: str, patches: Sequence[Patch]) -> int:
    """Have a kernel built here or by the service; its job's number."""
    from mitigauge.jobs.schemas import JobView
    from mitigauge.kernels.host_config import AS_HOST
    from mitigauge.measurement.fleet.kernel_profiles import profile_for

    if not chosen_server():
        return order_kernel(order, profile_for(profile, environment), patches)
    from cli.remote.client import client

    if "/" in profile and not profile.startswith(f"{AS_HOST}:"):
        require_local("kernel build --profile FILE", "`kernel profiles` lists what there is.")
    where = {"profile": profile, "environment": environment}
    body = order.model_dump() | where | {"patches": sent(patches)}
    return client().post("/api/kernels", JobView, body).id


def order_kernel(order: KernelOrder, profile: Profile, patches: Sequence[Patch]) -> int:
    """Have a kernel built by a worker; its job's number."""
    from cli.workers import require_served
    from mitigauge.access.roles import OPERATOR
    from mitigauge.core.settings import get_settings
    from mitigauge.jobs.states import Ability
    from mitigauge.kernels.order_service import ask_kernel
    from mitigauge.storage.files.blobs import blob_store

    blobs = blob_store(get_settings())
    with stored() as session:
        job = ask_kernel(session, blobs, order, profile, patches, asked_by=OPERATOR).id
    require_served(Ability.KERNELS)
    return job


def kernels_of(job: int) -> list[int]:
    """The kernels that a job built, once it is done. Raises MitigaugeError where it failed."""
    return list(followed(job).result["kernels"])


@app.command("import")
def import_package(
    package: Annotated[Path, typer.Argument(help="A linux-image-*.deb.")],
    label: Annotated[str, typer.Option(help="A name for people.")] = "",
    json: Json = False,
) -> None:
    """Store a kernel's package that was built elsewhere, so that experiments can ask for it."""
    from mitigauge.core.settings import get_settings
    from mitigauge.kernels import service
    from mitigauge.storage.files.blobs import blob_store
    from pipelines.kernel_import import read_package

    built = read_package(package, blob_store(get_settings()))
    with stored() as session:
        kernel = service.brought_in(session, built, label)
        found = [kernel.id]
    _print(found, json=json)


@app.command("list")
def list_kernels(json: Json = False) -> None:
    """Kernels that were built here or brought in."""
    views = _kernels()
    if json:
        print_json(views)
        return
    print_table(
        ["release", "state", "label", "base", "patches", "layout", "profile"],
        [
            [v.release or v.digest[:12], v.state, v.label, v.base or "imported",
             str(len(v.patches)), v.layout, v.profile]
            for v in views
        ],
        empty="No kernels yet: `mitigauge kernel build` builds Debian's, "
        "`mitigauge kernel build PATCHES` one with patches.",
    )  # fmt: skip


def _kernels() -> list[KernelView]:
    from mitigauge.kernels import repository
    from mitigauge.kernels.schemas import KernelView

    return answer(
        lambda session: [
            KernelView.model_validate(kernel) for kernel in repository.kernels(session)
        ],
        lambda client: client.get("/api/kernels", list[KernelView]),
        reads=True,
    )


@app.command()
def show(
    name: Name,
    log: Annotated[bool, typer.Option("--log", help="Print the build's log.")] = False,
    json: Json = False,
) -> None:
    """One kernel: what it was built from, and what came of it."""
    from mitigauge.kernels import service
    from mitigauge.kernels.schemas import KernelView

    view = answer(
        lambda session: KernelView.model_validate(service.show(session, name)),
        lambda client: client.get(at("/api/kernels/{}", name), KernelView),
        reads=True,
    )
    if log:
        echo(_log_of(view.log_sha256))
    elif json:
        print_json(view)
    else:
        for line in view.lines():
            say(line)


@app.command()
def remove(name: Name) -> None:
    """Delete a kernel's package; what is known of it stays."""
    from mitigauge.kernels import service

    with stored() as session:
        kernel = service.show(session, name)
        service.remove(session, kernel)
        release = kernel.release or name
    remark(f"{release} is removed; its package goes with the next clean-up (`mitigauge db prune`)")


@app.command()
def profiles() -> None:
    """Config profiles that come with us."""
    from mitigauge.kernels.config_profile import known_profiles, profile_of

    for name in known_profiles():
        about = [line[2:] for line in profile_of(name).text.splitlines() if line.startswith("# ")]
        say(f"{name}: {about[0] if about else ''}")


def _print_patches(patches: Sequence[Patch], *, json: bool) -> None:
    """What would be applied, in its order."""
    from mitigauge.kernels.schemas import PatchToApply

    found = [PatchToApply.model_validate(patch) for patch in patches]
    if json:
        print_json(found)
        return
    for number, patch in enumerate(found, 1):
        say(f"{number:>3} {patch.title} ({', '.join(patch.files)})")


def views_of(ids: Sequence[int]) -> list[KernelView]:
    """The kernels of those ids, as they are shown."""
    found = {view.id: view for view in _kernels()}
    return [found[each] for each in ids]


def _print(ids: Sequence[int], *, json: bool) -> None:
    views = views_of(ids)
    if json:
        print_json(views)
        return
    for view in views:
        say(f"{view.release}")
        say(f"  build id {view.build_id}")
        for line in view.loosely:
            say(f"  applied loosely: {line}")
        say(f"  an arm boots it with `kernel: {view.release}`")


def _log_of(digest: str | None) -> str:
    if digest is None:
        return "no log was kept"
    if chosen_server():
        from cli.remote.client import client

        return client().text(at("/api/blobs/{}", digest))
    from mitigauge.core.settings import get_settings
    from mitigauge.storage.files.blobs import blob_store

    return blob_store(get_settings()).read(digest).decode(errors="replace")
