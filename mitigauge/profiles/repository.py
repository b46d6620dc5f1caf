"""SQL of profiles."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import orjson
from sqlalchemy import ARRAY, LargeBinary, RowMapping, any_, func, insert, literal, select, text
from sqlalchemy.orm import Session, undefer

from mitigauge.database import BINARY
from mitigauge.experiments.tables import Arm, Boot, Case, Comparison, Experiment, Run
from mitigauge.fleet.tables import Host
from mitigauge.profiles.tables import (
    FrameSymbol,
    FrameTree,
    Profile,
    ProfileSymbol,
    digest_of,
)
from mitigauge.profiles.tree import Layout

# More than a list to choose from can hold; the latest come first.
MOST_GROUPS = 500


def symbol_ids(session: Session, names: Collection[str]) -> dict[str, int]:
    """Numbers of *names*; new ones are stored. In order, so that two imports never deadlock."""
    digests = {digest_of(name): name for name in names}
    known = _known(session, digests)
    missing = sorted(digests.keys() - known.keys())
    if missing:
        new = {"names": [digests[digest] for digest in missing], "digests": missing}
        session.execute(_NEW_SYMBOLS, new)
        known |= _known(session, missing)
    return {name: known[digest] for digest, name in digests.items()}


# One statement for thousands of names: a row at a time takes several times as long.
_NEW_SYMBOLS = text(
    "INSERT INTO frame_symbol (name, digest)"
    " SELECT * FROM unnest(CAST(:names AS text[]), CAST(:digests AS bytea[]))"
    " ON CONFLICT DO NOTHING"
)


def _known(session: Session, digests: Collection[bytes]) -> dict[bytes, int]:
    rows = session.execute(
        select(FrameSymbol.digest, FrameSymbol.id).where(
            FrameSymbol.digest == any_(literal(list(digests), ARRAY(LargeBinary)))
        ),
        execution_options=BINARY,
    )
    return {row.digest: row.id for row in rows}


_NAMES = text(
    "SELECT json_object_agg(id, name)::text FROM frame_symbol"
    " WHERE id = ANY(CAST(:numbers AS integer[]))"
)


def names_of(session: Session, numbers: Collection[int]) -> dict[int, str]:
    """Names by number."""
    # Thousands for each diff: as one text they come in a quarter of the time that rows take.
    listed = "{" + ",".join(map(str, numbers)) + "}"
    told = session.connection().scalar(_NAMES, {"numbers": listed})
    return {int(number): name for number, name in orjson.loads(told or "{}").items()}


def locked_tree(session: Session, name: str) -> FrameTree | None:
    """The tree of that name, locked: imports into one tree take turns."""
    # A tree that is not there yet cannot be locked itself.
    session.execute(select(func.pg_advisory_xact_lock(func.hashtext(f"frame_tree {name}"))))
    return session.scalars(
        select(FrameTree)
        .where(FrameTree.name == name)
        .options(undefer(FrameTree.layout))
        .with_for_update(),
        execution_options=BINARY,
    ).one_or_none()


def layout_of(session: Session, tree_id: int) -> Layout:
    """Where a tree's nodes are."""
    found = session.scalars(
        select(FrameTree.layout).where(FrameTree.id == tree_id), execution_options=BINARY
    )
    return Layout.from_bytes(found.one())


def stored_profile(session: Session, boot_id: int, case_id: int, side: str) -> Profile | None:
    """The profile of a case within a boot, if there is one."""
    return session.scalars(
        select(Profile).where(
            Profile.boot_id == boot_id, Profile.case_id == case_id, Profile.side == side
        )
    ).one_or_none()


def imported_profile(session: Session, tree_id: int, label: str, raw_sha256: str) -> Profile | None:
    """An imported file's profile, if it was imported before."""
    return session.scalars(
        select(Profile).where(
            Profile.tree_id == tree_id, Profile.label == label, Profile.raw_sha256 == raw_sha256
        )
    ).one_or_none()


def add_functions(session: Session, profile_id: int, rows: Iterable[tuple[int, int, int]]) -> None:
    """Store (symbol, self, total) of one profile."""
    session.execute(
        insert(ProfileSymbol),
        [
            {
                "profile_id": profile_id,
                "symbol_id": symbol,
                "self_weight": own,
                "total_weight": total,
            }
            for symbol, own, total in rows
        ],
    )


def profiles_by_id(session: Session, ids: Sequence[int]) -> list[Profile]:
    """Profiles by number, in ascending order."""
    found = select(Profile).where(Profile.id.in_(ids)).order_by(Profile.id)
    return list(session.scalars(found, execution_options=BINARY))


def profiles_labelled(session: Session, tree: str, label: str) -> list[Profile]:
    """Imported profiles of one group."""
    return list(
        session.scalars(
            select(Profile)
            .join(FrameTree)
            .where(FrameTree.name == tree, Profile.label == label, Profile.boot_id.is_(None))
            .order_by(Profile.id),
            execution_options=BINARY,
        )
    )


def groups_like(session: Session, case: Case, side: str) -> Sequence[RowMapping]:
    """Groups of profiles of the workload and parameters of *case*, in any experiment."""
    rows = session.execute(
        select(
            Experiment.id.label("experiment_id"),
            Experiment.name.label("experiment"),
            Case.id.label("case_id"),
            Host.name.label("host"),
            Host.emulated,
            Arm.name.label("arm"),
            func.max(Profile.event).label("event"),
            func.count(Profile.id).label("profiles"),
        )
        .join(Boot, Profile.boot_id == Boot.id)
        .join(Run, Boot.run_id == Run.id)
        .join(Host, Run.host_id == Host.id)
        .join(Arm, Boot.arm_id == Arm.id)
        .join(Case, Profile.case_id == Case.id)
        .join(Comparison, Case.comparison_id == Comparison.id)
        .join(Experiment, Comparison.experiment_id == Experiment.id)
        .where(
            Case.workload == case.workload,
            Case.parameters == case.parameters,
            Profile.side == side,
            Boot.state == "effective",
        )
        .group_by(Experiment.id, Case.id, Host.id, Arm.id)
        .order_by(Experiment.id.desc(), Host.name, Arm.position)
        .limit(MOST_GROUPS)
    )
    return rows.mappings().all()


def sides_of_case(session: Session, case_id: int) -> tuple[str, ...]:
    """Of which systems a case has profiles: host, guest; the host first."""
    found = session.scalars(select(Profile.side).where(Profile.case_id == case_id).distinct())
    return tuple(sorted(found, reverse=True))


def profiles_of_arm(
    session: Session, *, case_id: int, arm_id: int, run_id: int, side: str
) -> list[Profile]:
    """Profiles of one case in one arm's boots that count, in a run."""
    return list(
        session.scalars(
            select(Profile)
            .join(Boot, Profile.boot_id == Boot.id)
            .where(
                Profile.case_id == case_id,
                Profile.side == side,
                Boot.arm_id == arm_id,
                Boot.run_id == run_id,
                Boot.state == "effective",
            )
            .order_by(Boot.block),
            execution_options=BINARY,
        )
    )
