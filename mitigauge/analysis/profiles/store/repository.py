"""SQL of profiles."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import orjson
from sqlalchemy import ARRAY, LargeBinary, any_, func, literal, select, text
from sqlalchemy.orm import Session, undefer

from mitigauge.analysis.profiles.store.tables import (
    FrameSymbol,
    FrameTree,
    FunctionListing,
    Profile,
    ProfileFunction,
    ProfileInstructions,
    System,
    digest_of,
)
from mitigauge.analysis.profiles.store.tree import Layout
from mitigauge.storage.database.engine import BINARY
from mitigauge.storage.database.locks import Lock


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


def known_symbols(session: Session, names: Collection[str]) -> dict[str, int]:
    """Numbers of those of *names* that any profile has."""
    digests = {digest_of(name): name for name in names}
    return {digests[digest]: number for digest, number in _known(session, digests).items()}


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
    turn = func.pg_advisory_xact_lock(Lock.FRAME_TREE, func.hashtext(name))
    session.execute(select(turn))
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


def stored_profile(session: Session, boot_id: int, case_id: int, system: System) -> Profile | None:
    """The profile of a case within a boot, if there is one."""
    return session.scalars(
        select(Profile).where(
            Profile.boot_id == boot_id, Profile.case_id == case_id, Profile.system == system
        )
    ).one_or_none()


def imported_profile(session: Session, tree_id: int, label: str, raw_sha256: str) -> Profile | None:
    """An imported file's profile, if it was imported before."""
    return session.scalars(
        select(Profile).where(
            Profile.tree_id == tree_id, Profile.label == label, Profile.raw_sha256 == raw_sha256
        )
    ).one_or_none()


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


def systems_of_case(session: Session, case_id: int) -> tuple[System, ...]:
    """Of which systems a case has profiles: host, guest; the host first."""
    found = session.scalars(select(Profile.system).where(Profile.case_id == case_id).distinct())
    return tuple(sorted(found, reverse=True))


_NEW_LISTINGS = text(
    "INSERT INTO function_listing (digest, instructions, lines)"
    " SELECT * FROM unnest(CAST(:digests AS bytea[]), CAST(:counts AS integer[]),"
    " CAST(:lines AS bytea[])) ON CONFLICT DO NOTHING"
)


def listing_ids(session: Session, listings: Mapping[bytes, tuple[int, bytes]]) -> dict[bytes, int]:
    """Numbers of listings by digest; new ones are stored: instructions, and lines, packed.

    In order, so that two imports never deadlock.
    """
    digests = sorted(listings)
    known = _known_listings(session, digests)
    missing = [digest for digest in digests if digest not in known]
    if missing:
        new = {
            "digests": missing,
            "counts": [listings[digest][0] for digest in missing],
            "lines": [listings[digest][1] for digest in missing],
        }
        session.execute(_NEW_LISTINGS, new)
        known |= _known_listings(session, missing)
    return known


def _known_listings(session: Session, digests: Collection[bytes]) -> dict[bytes, int]:
    rows = session.execute(
        select(FunctionListing.digest, FunctionListing.id).where(
            FunctionListing.digest == any_(literal(list(digests), ARRAY(LargeBinary)))
        ),
        execution_options=BINARY,
    )
    return {row.digest: row.id for row in rows}


def listings(session: Session, numbers: Collection[int]) -> dict[int, bytes]:
    """Lines of listings, packed, by number."""
    rows = session.execute(
        select(FunctionListing.id, FunctionListing.lines).where(FunctionListing.id.in_(numbers)),
        execution_options=BINARY,
    )
    return {row.id: row.lines for row in rows}


def functions_of(
    session: Session, profiles: Collection[int], symbols: Collection[int]
) -> list[ProfileFunction]:
    """Where samples fell in functions of profiles, in order."""
    return list(
        session.scalars(
            select(ProfileFunction)
            .where(ProfileFunction.profile_id.in_(profiles), ProfileFunction.symbol_id.in_(symbols))
            .order_by(ProfileFunction.profile_id, ProfileFunction.symbol_id, ProfileFunction.part),
            execution_options=BINARY,
        )
    )


def functions_with_code(session: Session, profiles: Collection[int]) -> dict[int, str]:
    """Names, by number, of the functions of which any of the profiles has instructions."""
    rows = session.execute(
        select(FrameSymbol.id, FrameSymbol.name)
        .join(ProfileFunction, ProfileFunction.symbol_id == FrameSymbol.id)
        .where(ProfileFunction.profile_id.in_(profiles))
        .distinct()
    )
    return {row.id: row.name for row in rows}


def instructions_of(session: Session, profiles: Collection[int]) -> dict[int, ProfileInstructions]:
    """What profiles left of their functions' code, by profile; old ones left nothing."""
    rows = session.scalars(
        select(ProfileInstructions).where(ProfileInstructions.profile_id.in_(profiles))
    )
    return {row.profile_id: row for row in rows}
