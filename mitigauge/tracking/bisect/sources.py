"""What a person names (patches, a series, arms) made into a bisection's draft."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated

from pydantic import Field, ValidationError
from sqlalchemy.orm import Session

from mitigauge.core.errors import InvalidInput
from mitigauge.core.field_types import Closed, Name, located_errors
from mitigauge.core.yaml_file import parse_yaml
from mitigauge.kernels.config_profile import Profile
from mitigauge.kernels.order import KernelInputs
from mitigauge.kernels.patch import Patch
from mitigauge.measurement.experiments.spec_model import KernelRelease, ModeName
from mitigauge.measurement.fleet.kernel_profiles import named_hosts, profile_for
from mitigauge.storage.files.blobs import BlobStore
from mitigauge.tracking.bisect.draft import Change, Draft, Place
from mitigauge.tracking.bisect.question import Question
from mitigauge.tracking.bisect.records import Source
from mitigauge.tracking.bisect.states import BisectionKind
from mitigauge.tracking.series import service as series_service
from mitigauge.tracking.series.kept_profile import profile_of_series
from mitigauge.tracking.series.request_repository import stopped
from mitigauge.tracking.series.states import RevisionState
from mitigauge.tracking.series.tables import SeriesRevision

MOST_ARMS = 1000
_MAY_RUN = (RevisionState.APPROVED, RevisionState.BUILDING, RevisionState.MEASURING,
            RevisionState.FAILED, RevisionState.NOTHING_RUNS_IT)  # fmt: skip


def from_revision(
    session: Session, revision: SeriesRevision, blobs: BlobStore, asked: Question, mode: str
) -> Draft:
    """Over the patches of a series' revision, which may run.

    Raises InvalidInput for one that nobody approved.
    """
    series = revision.series
    named = f"{series.name} {revision.label}"
    if revision.state not in _MAY_RUN:
        raise InvalidInput(
            f"{named} is {revision.state}: {revision.why}",
            hint=f"`mitigauge series approve {named}`, once somebody has looked at its patches.",
        )
    said = revision.recipients
    no_more = stopped(session)
    profile = profile_of_series(series, named_hosts(asked.environment, asked.hosts), blobs)
    source = Source(
        base=revision.base or series.base,
        profile=profile.name,
        revision=named,
        message_id=revision.message_id,
        subject=said.subject,
        to=[each for each in said.to if not _is_of(each, no_more)],
        cc=[each for each in said.cc if not _is_of(each, no_more)],
        references=list(said.references),
    )
    patches = series_service.patches_of(revision, blobs)
    ids = [patch.message_id for patch in revision.patches]
    title = f"{named}: {revision.title}"
    return _of_patches(patches, ids, source, profile, blobs, asked, mode, title)


def from_patches(
    patches: Sequence[Patch], base: str, profile: str, blobs: BlobStore, asked: Question, mode: str
) -> Draft:
    """Over patches from files, in their order, on a source package; *profile*: empty where its
    hosts decide.
    """
    read = profile_for(profile, asked.environment, asked.hosts)
    source = Source(base=base, profile=read.name)
    title = f"{len(patches)} patches on {base}"
    return _of_patches(patches, [""] * len(patches), source, read, blobs, asked, mode, title)


def from_arms(text: str, name: str, asked: Question) -> Draft:
    """Over an ordered list of arms from a YAML file; its first is the first end.

    Raises InvalidInput naming file and line.
    """
    arms = _read_arms(text, name)
    changes = [Change(arm.name, f"{before.name} to {arm.name}") for before, arm in pairwise(arms)]
    places = [Place(arm.mode, arm.kernel) for arm in arms]
    return Draft(BisectionKind.ARMS, f"{arms[0].name} to {arms[-1].name}", asked, changes, places)


class _Arm(Closed):
    """One arm of the list."""

    name: Name
    mode: ModeName
    kernel: KernelRelease = ""


class _Arms(Closed):
    """The file of an ordered list of arms."""

    arms: Annotated[list[_Arm], Field(min_length=2, max_length=MOST_ARMS)]


def _read_arms(text: str, name: str) -> list[_Arm]:
    document = parse_yaml(text, name)
    try:
        arms = _Arms.model_validate(document.data).arms
    except ValidationError as error:
        raise InvalidInput(
            "\n".join(located_errors(document, error)),
            hint="`arms:` is a list, in order, of {name: …, mode: FAMILY/MODE, kernel: RELEASE}.",
        ) from error
    for at, (before, arm) in enumerate(pairwise(arms), 1):
        if (before.mode, before.kernel) == (arm.mode, arm.kernel):
            raise InvalidInput(
                f"{document.where(('arms', at))}: arm {arm.name!r} is the same as the one before",
                hint="Leave one of them out.",
            )
    if (arms[0].mode, arms[0].kernel) == (arms[-1].mode, arms[-1].kernel):
        raise InvalidInput(
            f"{name}: the first and the last arm are the same", hint="The ends must differ."
        )
    return arms


def _of_patches(
    patches: Sequence[Patch],
    message_ids: Sequence[str],
    source: Source,
    profile: Profile,
    blobs: BlobStore,
    asked: Question,
    mode: str,
    title: str,
) -> Draft:
    changes = [
        Change(
            patch.sha256[:12], patch.title, message_id, files=patch.files,
        )
        for patch, message_id in zip(patches, message_ids, strict=True)
    ]  # fmt: skip
    if not changes:
        raise InvalidInput("there is no patch", hint="Give what `git format-patch` wrote.")
    return Draft(
        BisectionKind.PATCHES, title, asked, changes, [Place(mode)] * (len(patches) + 1), source,
        series_service.put(patches, blobs), KernelInputs.of(profile, ()).put(blobs),
    )  # fmt: skip


def _is_of(shown: str, addresses: set[str]) -> bool:
    return any(f"<{address}>" in shown.lower() or shown.lower() == address for address in addresses)
