"""From an approved revision to its experiment: kernels built, our spec filled, submitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from mitigauge.core.clock import Clock
from mitigauge.core.errors import MitigaugeError
from mitigauge.core.settings import get_settings
from mitigauge.core.yaml_file import parse_yaml
from mitigauge.jobs.blame import Blame, blame_of, words_of
from mitigauge.kernels import renames
from mitigauge.kernels import service as kernel_service
from mitigauge.kernels.config_profile import Profile
from mitigauge.kernels.functions import notes_of, renamed
from mitigauge.kernels.patch import Patch
from mitigauge.kernels.recipe import layouts
from mitigauge.kernels.tables import Kernel
from mitigauge.measurement.experiments.spec import environment_named_in
from mitigauge.measurement.fleet.inventory import environment_names, load_hosts
from mitigauge.measurement.fleet.kernel_profiles import require_bootable
from mitigauge.measurement.fleet.service import HostVars
from mitigauge.measurement.runs.submission import submit_text
from mitigauge.storage.database.engine import is_away
from mitigauge.tracking.series import repository, retests, service
from mitigauge.tracking.series.case_choice import choice_in_words, nothing_in_words
from mitigauge.tracking.series.choosing import Chosen, choose
from mitigauge.tracking.series.kept_profile import keep_profile
from mitigauge.tracking.series.letter import BASE_COMMIT
from mitigauge.tracking.series.range_diff import with_code
from mitigauge.tracking.series.spec import filled, layouts_in, places_in
from mitigauge.tracking.series.spec_files import spec_text
from mitigauge.tracking.series.tables import SeriesRevision
from pipelines.adapters import named_trees
from pipelines.kernel_build import Builder
from pipelines.kernel_order import BuildFailed, Order


@dataclass(frozen=True, slots=True)
class Ordered:
    """What has to be built for a revision: patches by the place that a spec names."""

    name: str
    label: str
    spec: str
    text: str
    base: str
    profile: Profile
    patches: Mapping[str, tuple[str, Sequence[Patch]]]
    layouts: Mapping[str, int]
    """By comparison."""
    loose: bool


def start(revision_id: int, builder: Builder) -> int | None:
    """Build what its spec asks for and submit it; the experiment's id.

    None where no case runs what it changes, which is noted with the revision.

    A revision that was begun and whose process ended is gone on with: what was built already is
    found, and the experiment is stored in the transaction that notes it. Raises MitigaugeError,
    after the revision's failure was noted where it is its own.
    """
    with builder.transaction() as session:
        revision = _locked(repository.revision(session, revision_id), revision_id)
        service.begin(session, revision)
    try:
        with builder.transaction() as session:
            revision = _locked(repository.revision(session, revision_id), revision_id)
            ordered = _ordered(revision, builder)
        kernels = _built(ordered, builder)
        return _submitted(revision_id, ordered, kernels, builder)
    except Exception as error:
        if is_away(error):
            raise
        note = service.failed if blame_of(error) is Blame.AUTHOR else service.put_off
        with builder.transaction() as session:
            revision = _locked(repository.revision(session, revision_id), revision_id)
            note(session, revision, words_of(error))
        raise


def _ordered(revision: SeriesRevision, builder: Builder) -> Ordered:
    """Everything of our own and of the series that a build needs."""
    series = revision.series
    text = spec_text(series.spec)
    wanted = places_in(text, f"{series.spec}.yml")
    hosts = hosts_in(text)
    profile = keep_profile(series, hosts, builder.blobs)
    # Before an hour of building.
    require_bootable(profile.name, f"series {series.name}", hosts)
    patches = {"this": (revision.label, service.patches_of(revision, builder.blobs))}
    before = retests.compared_with(revision)
    if before is not None and "before" in wanted:
        patches["before"] = (before.label, service.patches_of(before, builder.blobs))
    if "base" in wanted:
        patches["base"] = ("base", [])
    return Ordered(
        series.name, revision.label, series.spec, text, base_of(revision),
        profile, patches,
        layouts_in(text, f"{series.spec}.yml", counted_hosts(text)), series.loose,
    )  # fmt: skip


def base_of(revision: SeriesRevision) -> str:
    """What its kernels are built on: a source package, or the commit that it names."""
    base = revision.base or revision.series.base
    if base == BASE_COMMIT:
        return named_trees.base_holding(revision.base_commit, get_settings().source_trees)
    return base


def counted_hosts(text: str) -> set[str]:
    """Hosts of the spec's environment whose time counts instructions."""
    return {host.name for host in _environment_of(text).values() if host.clock is Clock.COUNTED}


def hosts_in(text: str) -> list[HostVars]:
    """Hosts that a spec names and its environment has."""
    comparisons = parse_yaml(text, "spec").data.get("comparisons") or []
    names = {name for each in comparisons for name in each.get("hosts") or []}
    return [host for name, host in _environment_of(text).items() if name in names]


def _environment_of(text: str) -> Mapping[str, HostVars]:
    environment = environment_named_in(parse_yaml(text, "spec"))
    return load_hosts(environment) if environment in environment_names() else {}


def _built(ordered: Ordered, builder: Builder) -> dict[str, Kernel]:
    """Kernels by place. One before that does not build any more is left out of the comparison."""
    kernels = {}
    for place, (label, patches) in ordered.patches.items():
        builder.report(f"{ordered.name} {label}: its kernel")
        named = f"{ordered.name}-{label}"[:60]
        orders = [
            Order(ordered.base, ordered.profile, patches, layout, named, loose=ordered.loose)
            for layout in layouts(max(ordered.layouts.values(), default=1))
        ]
        try:
            built, *_others = [builder.build(order) for order in orders]
        except BuildFailed as error:
            if place == "this":
                raise
            builder.report(f"{label} does not build, so nothing is compared with it: {error}")
            continue
        with builder.transaction() as session:
            kernels[place] = session.get_one(Kernel, built)
            session.expunge(kernels[place])
    return kernels


def _submitted(
    revision_id: int, ordered: Ordered, kernels: dict[str, Kernel], builder: Builder
) -> int | None:
    releases = {place: str(kernel.release) for place, kernel in kernels.items()}
    file = f"experiments/series/{ordered.spec}.yml"
    text = filled(ordered.text, file, releases, label=ordered.label, layouts=ordered.layouts)
    with builder.transaction() as session:
        revision = _locked(repository.revision(session, revision_id), revision_id)
        if revision.experiment_id is not None:
            return revision.experiment_id
        _note_renames(session, revision, kernels, builder)
        chosen = _chosen(session, revision, text, kernels, builder)
        experiment = submit_text(session, chosen.text, name=file) if chosen.text else None
        revision.choices = chosen.choices
        if experiment is None:
            why = nothing_in_words(chosen.choices)
            service.nothing_runs_it(session, revision, kernels["this"].id, why)
        else:
            service.measuring(session, revision, kernels["this"].id, experiment)
    for line in (line for choice in chosen.choices for line in choice_in_words(choice)):
        builder.report(line)
    return experiment


def _chosen(
    session: Session,
    revision: SeriesRevision,
    text: str,
    kernels: Mapping[str, Kernel],
    builder: Builder,
) -> Chosen:
    """The spec with the cases that are measured: all, where a person wants them."""
    if revision.all_cases:
        return Chosen(text, [])
    by_release = {str(kernel.release): kernel for kernel in kernels.values()}
    return choose(session, text, by_release, builder.blobs)


def _note_renames(
    session: Session, revision: SeriesRevision, kernels: Mapping[str, Kernel], builder: Builder
) -> None:
    """Note what its patches renamed, and what the code of both kernels shows besides."""
    if "before" not in kernels:
        return
    before, this = kernels["before"], kernels["this"]
    codes = [
        notes_of(kernel_service.noted_functions(kernel.functions_sha256, builder.blobs)).of_one_name
        for kernel in (before, this)
    ]
    shown = renamed(*codes)
    found = with_code([] if revision.retest else revision.renamed, shown)
    if not revision.retest:
        revision.renamed = found
    renames.store(session, before.id, this.id, {each.before: each.after for each in found})


def _locked(revision: SeriesRevision | None, revision_id: int) -> SeriesRevision:
    if revision is None:
        raise MitigaugeError(f"no revision {revision_id}", hint="`mitigauge series list`.")
    return revision
