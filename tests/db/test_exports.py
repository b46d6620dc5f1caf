"""An experiment as a file: written, read into another database, refused where it is not one."""

from __future__ import annotations

import base64
import hashlib
import io
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
import zstandard
from sqlalchemy import Engine, select, text
from sqlalchemy.orm import Session

from mitigauge.analysis.profiles.store.export import folded_group
from mitigauge.analysis.profiles.store.tables import Profile
from mitigauge.core.errors import Conflict, InvalidInput, NotFound
from mitigauge.core.settings import REPOSITORY, get_settings
from mitigauge.measurement.experiments import repository as experiment_rows
from mitigauge.measurement.runs import repository as run_rows
from mitigauge.reporting.pages.boot_schemas import WholeExperimentView
from mitigauge.reporting.pages.experiments import list_events, show_whole
from mitigauge.storage.database import schema_upgrade
from mitigauge.storage.database.engine import advisory_lock, new_engine, transaction
from mitigauge.storage.database.locks import Lock
from mitigauge.storage.database.metadata import whole_metadata
from mitigauge.storage.files.blobs import BlobStore, blob_store
from mitigauge.upkeep.exports import lines
from mitigauge.upkeep.exports.service import import_experiment
from mitigauge.upkeep.exports.writer import Exported, export_experiment
from tests import next_version
from tests.commands import Command
from tests.postgres import Databases
from tests.recording import load

Json = dict[str, Any]
DEMO = REPOSITORY / "db" / "recorded" / "lab-demo.mitigauge.zst"


@pytest.fixture
def store(home: Path) -> BlobStore:
    """A store of raw files of the test's own."""
    return blob_store(get_settings())


@pytest.fixture(scope="module")
def elsewhere(module_engine: tuple[Engine, str]) -> Engine:
    """A service that has run an experiment."""
    engine, _ = module_engine
    load(engine)
    return engine


@pytest.fixture(scope="module")
def exported(elsewhere: Engine) -> bytes:
    """That experiment's file, without raw files."""
    return written(elsewhere)[0]


@pytest.fixture(scope="module")
def empty(databases: Databases) -> Iterator[Engine]:
    """An empty service for all files that leave nothing."""
    with databases.copied() as url:
        engine = new_engine(url)
        yield engine
        engine.dispose()


@pytest.fixture
def here(engine: Engine) -> Engine:
    """Another service, in whose tables numbers have been given before."""
    run(
        engine,
        "insert into host (environment, name, host_class, machine, emulated, capabilities)"
        " values ('lab', 'lab-intel', 'ours', 'ours', false, '[]')",
        "insert into experiment (name, question, environment, seed, spec_text, state)"
        " values ('ours', '', 'lab', 1, '', 'cancelled')",
        "select nextval(pg_get_serial_sequence('boot', 'id')) from generate_series(1, 1000)",
        "insert into frame_symbol (name, digest) values ('ours', '\\x00')",
    )
    return engine


def run(engine: Engine, *statements: str) -> None:
    with engine.begin() as connection:
        for statement in statements:
            connection.execute(text(statement))


def written(engine: Engine, blobs: BlobStore | None = None) -> tuple[bytes, Exported]:
    stream = io.BytesIO()
    with transaction(engine) as session:
        done = export_experiment(session, 1, stream, blobs)
    return stream.getvalue(), done


def lines_of(content: bytes) -> list[Json]:
    plain = zstandard.ZstdDecompressor().decompressobj().decompress(content)
    return [orjson.loads(line) for line in plain.splitlines()]


def packed(listed: list[Json]) -> bytes:
    """A file of these lines, with an end that is right."""
    stream = io.BytesIO()
    writer = lines.Writer(stream)
    for line in listed:
        writer.add(orjson.dumps(line))
    writer.close()
    return stream.getvalue()


def taken(engine: Engine, content: bytes, directory: Path, blobs: BlobStore) -> int:
    path = directory / "it.mitigauge.zst"
    path.write_bytes(content)
    return import_experiment(engine, path, blobs).experiment_id


def row_counts(engine: Engine) -> dict[str, int]:
    with engine.connect() as connection:
        return {
            table.name: connection.execute(text(f"select count(*) from {table.name}")).scalar_one()
            for table in whole_metadata().sorted_tables
        }


def told(view: WholeExperimentView) -> Any:
    """What people are told of an experiment, without the numbers that rows have."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {
                key: plain(item)
                for key, item in value.items()
                if key not in ("id", "seconds_left") and not key.endswith("_id")
            }
        return [plain(item) for item in value] if isinstance(value, list) else value

    told = plain(
        view.model_dump(mode="json", exclude={"recorded", "headline", "worst_effect_percent"})
    )
    for boot in told["boots"]:
        boot["values"] = list(boot["values"].values())
    return told


def stacks(session: Session) -> list[Any]:
    profiles = session.scalars(select(Profile).order_by(Profile.id)).all()
    return [
        (p.event, p.samples, p.weight, p.idle, p.unknown, p.counters, p.operations, p.stored_at,
         p.raw_sha256, folded_group(session, [p]))
        for p in profiles
    ]  # fmt: skip


def test_what_is_read_is_what_was_written(
    elsewhere: Engine, exported: bytes, here: Engine, store: BlobStore, tmp_path: Path
) -> None:
    number = taken(here, exported, tmp_path, store)
    with transaction(elsewhere) as there, transaction(here) as session:
        assert told(show_whole(session, number)) == told(show_whole(there, 1))
        assert stacks(session) == stacks(there)
        assert [e.text for e in list_events(session, number)] == [
            e.text for e in list_events(there, 1)
        ]
    before, after = row_counts(elsewhere), row_counts(here)
    for table in ("boot", "result", "step_attempt", "event", "fingerprint", "profile"):
        assert after[table] == before[table] > 0
    assert after["host"] == before["host"] + 1
    assert after["experiment"] == 2


def test_a_recorded_experiment_says_so_and_nothing_acts_upon_it(
    elsewhere: Engine, exported: bytes, here: Engine, store: BlobStore, tmp_path: Path
) -> None:
    [header, *rest] = lines_of(exported)
    for line in rest:
        if line.get("table") == "run":
            line["row"]["wake_at"] = "2020-01-01T00:00:00Z"
        if line.get("table") == "host":
            line["row"] |= {"set_aside_at": "2020-01-01T00:00:00Z", "set_aside_reason": "silent"}
        if line.get("table") in ("experiment", "run"):
            line["row"]["concluded_at"] = None
    number = taken(here, packed([header, *rest[:-1]]), tmp_path, store)
    with transaction(here) as session:
        found = experiment_rows.experiment(session, number)
        assert found.recorded_from == "lab-intel (emulated), lab-amd (emulated)"
        assert found.recorded_at == found.finished_at
        assert found.concluded_at
        assert run_rows.unconcluded(session) == []
        assert (
            session.scalars(text("select count(*) from run where wake_at is not null")).one() == 0
        )
        assert session.scalars(text("select count(*) from host_lease")).one() == 0
        hosts = session.execute(
            text("select environment, name, set_aside_at from host order by id")
        )
        listed = [tuple(host) for host in hosts]
    assert listed[0] == ("lab", "lab-intel", None)
    assert [name for _, name, _ in listed[1:]] == ["lab-intel", "lab-amd"]
    assert all("lab, recorded 2026-11-22" in where and not aside for where, _, aside in listed[1:])


def test_it_is_read_once_and_not_where_it_was_run(
    elsewhere: Engine, exported: bytes, here: Engine, store: BlobStore, tmp_path: Path
) -> None:
    number = taken(here, exported, tmp_path, store)
    before = row_counts(here)
    assert taken(here, exported, tmp_path, store) == number
    assert row_counts(here) == before
    assert taken(elsewhere, exported, tmp_path, store) == 1


def test_what_was_read_can_be_written_again(
    exported: bytes, engine: Engine, store: BlobStore, tmp_path: Path
) -> None:
    assert taken(engine, exported, tmp_path, store) == 1
    again, _ = written(engine)
    first, second = lines_of(exported), lines_of(again)
    assert second[0]["recorded_at"] == first[0]["recorded_at"]
    assert second[0]["recorded_from"] == first[0]["recorded_from"]
    assert len(second) == len(first)


def test_an_experiment_that_is_going_on_is_not_written(engine: Engine, store: BlobStore) -> None:
    load(engine)
    run(engine, "update run set state = 'running' where id = 1")
    with pytest.raises(Conflict, match="not over"):
        written(engine)
    with transaction(engine) as session, pytest.raises(NotFound):
        export_experiment(session, 99, io.BytesIO(), None)


def test_raw_files_go_along(
    engine: Engine, here_too: Engine, store: BlobStore, tmp_path: Path
) -> None:
    load(engine)
    content = bytes(range(256)) * 10_000
    digest = store.put(content)
    run(engine, f"update result set raw_sha256 = '{digest}'")
    file, done = written(engine, store)
    # Those of the profiles are not in the recording.
    assert (done.blobs, done.missing_blobs) == (1, 8)
    other = blob_store(get_settings().model_copy(update={"home": tmp_path / "other"}))
    taken(here_too, file, tmp_path, other)
    assert other.read(digest) == content


@pytest.fixture
def here_too(databases: Databases) -> Iterator[Engine]:
    """A second database of the test's own."""
    with databases.copied() as url:
        engine = new_engine(url)
        yield engine
        engine.dispose()


def cut_in_half(content: bytes) -> bytes:
    return content[: len(content) // 2]


def without_its_end(content: bytes) -> bytes:
    plain = zstandard.ZstdDecompressor().decompressobj().decompress(content)
    whole = plain[: plain.rstrip(b"\n").rindex(b"\n") + 1]
    return zstandard.ZstdCompressor().compress(whole)


def one_byte_changed(content: bytes) -> bytes:
    plain = zstandard.ZstdDecompressor().decompressobj().decompress(content)
    return zstandard.ZstdCompressor().compress(plain.replace(b"lab-intel", b"lab-antel", 1))


def one_bit_flipped(content: bytes) -> bytes:
    place = len(content) // 2
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


def one_line_twice(content: bytes) -> bytes:
    plain = zstandard.ZstdDecompressor().decompressobj().decompress(content)
    listed = plain.splitlines(keepends=True)
    return zstandard.ZstdCompressor().compress(b"".join([*listed[:-1], listed[-2], listed[-1]]))


def with_more_behind(content: bytes) -> bytes:
    plain = zstandard.ZstdDecompressor().decompressobj().decompress(content)
    return zstandard.ZstdCompressor().compress(plain + b"{}\n")


def endless_line(content: bytes) -> bytes:
    plain = zstandard.ZstdDecompressor().decompressobj().decompress(content)
    return zstandard.ZstdCompressor().compress(plain.splitlines()[0] + b"\n" + b"[" * (9 << 20))


DAMAGE: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "empty": (lambda _: b"", "first line|cut off"),
    "no zstd": (lambda _: b"{}\n" * 100, "no zstd file"),
    "of another kind": (lambda _: zstandard.compress(b'{"kind": "song"}\n'), "first line"),
    "cut in half": (cut_in_half, "cut off|damaged"),
    "without its end": (without_its_end, "cut off"),
    "one byte changed": (one_byte_changed, "damaged"),
    "one bit flipped": (one_bit_flipped, "damaged|cut off"),
    "one line twice": (one_line_twice, "damaged"),
    "more behind": (with_more_behind, "behind the end"),
    "an endless line": (endless_line, "over 4 MiB"),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_file_is_refused_with_what_is_wrong(
    kind: str, exported: bytes, empty: Engine, store: BlobStore, tmp_path: Path
) -> None:
    change, reason = DAMAGE[kind]
    with pytest.raises(InvalidInput, match=reason):
        taken(empty, change(exported), tmp_path, store)
    assert not any(row_counts(empty).values())


def test_a_file_that_unpacks_to_too_much_is_refused(
    empty: Engine, store: BlobStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "LARGEST", 8 << 20)
    header = {"kind": "mitigauge experiment", "format": 1, "revision": "0018", "experiment_id": 1,
              "name": "", "exported_at": "2026-01-01T00:00:00Z",
              "recorded_at": "2026-01-01T00:00:00Z", "recorded_from": ""}  # fmt: skip
    bomb = packed([header, *({"stacks": {"a" * 1000: 1}} for _ in range(20_000))])
    assert len(bomb) < 100_000
    with pytest.raises(InvalidInput, match="unpacks to more"):
        taken(empty, bomb, tmp_path, store)


Change = Callable[[list[Json]], Any]


def first(listed: list[Json], table: str) -> Json:
    found: Json = next(line["row"] for line in listed if line.get("table") == table)
    return found


def place_of(listed: list[Json], table: str) -> int:
    return next(n for n, line in enumerate(listed) if line.get("table") == table)


def profile_of(listed: list[Json]) -> Json:
    found: Json = next(line["profile"] for line in listed if "profile" in line)
    return found


def blob(content: bytes, digest: str = "") -> Json:
    name = digest or hashlib.sha256(content).hexdigest()
    return {"blob": name, "part": base64.b64encode(content).decode()}


HOSTILE: dict[str, tuple[Change, str]] = {
    "no table": (
        lambda ls: ls.insert(2, {"table": "access_token", "row": {"id": 1}}),
        "'access_token', which is no table of experiments",
    ),
    "a lease": (
        lambda ls: ls.append({"table": "host_lease", "row": {"id": 1}}),
        "no table of experiments",
    ),
    "sql for a table": (
        lambda ls: ls.insert(2, {"table": 'x"; drop table host; --', "row": {}}),
        "no table of experiments",
    ),
    "unknown column": (lambda ls: first(ls, "boot").update(extra=1), "'extra' that is not known"),
    "missing column": (lambda ls: first(ls, "boot").pop("proof"), "column proof is missing"),
    "a parent outside": (
        lambda ls: first(ls, "run").update(host_id=77),
        "host 77 is not in the file before it",
    ),
    "a parent that is text": (
        lambda ls: first(ls, "run").update(host_id="1"),
        "where a row's number belongs",
    ),
    "a parent that is true": (
        lambda ls: first(ls, "run").update(host_id=True),
        "where a row's number belongs",
    ),
    "a row too late": (lambda ls: ls.append(ls.pop(place_of(ls, "host"))), "too late|not in"),
    "a row twice": (
        lambda ls: ls.insert(place_of(ls, "boot"), dict(ls[place_of(ls, "boot")])),
        "stands twice|twice",
    ),
    "no number": (lambda ls: first(ls, "boot").update(id=None), "where a row's number belongs"),
    "text for a number": (lambda ls: first(ls, "boot").update(block="one"), "are not taken"),
    "null": (lambda ls: first(ls, "boot").update(nonce=None), "are not taken"),
    "a state there is not": (lambda ls: first(ls, "boot").update(state="flying"), "not taken"),
    "an open boot": (lambda ls: first(ls, "boot").update(state="booting"), "not over"),
    "an open run": (lambda ls: first(ls, "run").update(state="queued"), "not over"),
    "an open experiment": (lambda ls: first(ls, "experiment").update(state="running"), "not over"),
    "NUL": (lambda ls: first(ls, "event").update(text="a\0b"), r"U\+0000"),
    "escape": (lambda ls: first(ls, "host").update(name="a\x1b[2J"), r"U\+001B"),
    "escape in a key": (lambda ls: first(ls, "fingerprint")["facts"].update({"\x1b": 1}), "001B"),
    "a second experiment": (
        lambda ls: ls.insert(
            place_of(ls, "experiment") + 1,
            {"table": "experiment", "row": first(ls, "experiment") | {"id": 2}},
        ),
        "second experiment",
    ),
    "no experiment": (lambda ls: ls.__delitem__(slice(1, None)), "no experiment"),
    "a page that cannot be shown": (
        lambda ls: first(ls, "benchmark_case").update(metrics={"time": 7}),
        "cannot be shown|not taken",
    ),
    "stacks of nothing": (lambda ls: ls.insert(1, {"stacks": {"a": 1}}), "stacks of no profile"),
    "a profile of no boot": (lambda ls: profile_of(ls).update(boot_id=99), "boot 99 is not in"),
    "a profile without an event": (lambda ls: profile_of(ls).update(event=None), "profile"),
    "a profile that counts less than nothing": (
        lambda ls: next(line for line in ls if "stacks" in line)["stacks"].update({"a;b": -5}),
        "never counted",
    ),
    "an endless row": (
        lambda ls: first(ls, "boot").update(serial_tail="x" * (2 << 20)),
        "a row of",
    ),
    "too many stacks": (
        lambda ls: ls.extend({"stacks": {f"a;{n}": 1 for n in range(k, k + 50_000)}}
                     for k in range(0, 250_000, 50_000)),
        "more stacks than any has",
    ),
    "a raw file of nobody": (lambda ls: ls.append(blob(b"x")), "that no row names"),
    "a raw file that is another": (
        lambda ls: ls.append(blob(b"x", first(ls, "result")["raw_sha256"])),
        "is damaged",
    ),
    "a line of nothing": (lambda ls: ls.append({"table": "host"}), "neither row"),
    "another format": (lambda ls: ls[0].update(format=2), "its format is 2"),
    "a later version": (lambda ls: ls[0].update(revision="9999"), "schema 9999.*not known.*newer"),
    "before the baseline": (lambda ls: ls[0].update(revision="0014"), "schema 0014.*to commit"),
    "a revision that is a path": (lambda ls: ls[0].update(revision="../x"), "first line"),
}  # fmt: skip


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_file_is_refused_and_nothing_of_it_stays(
    kind: str, exported: bytes, empty: Engine, store: BlobStore, tmp_path: Path
) -> None:
    change, reason = HOSTILE[kind]
    listed = lines_of(exported)[:-1]
    change(listed)
    with pytest.raises(InvalidInput, match=reason):
        taken(empty, packed(listed), tmp_path, store)
    assert not any(row_counts(empty).values())
    assert list(store.listed()) in ([], [[]])


def databases(engine: Engine) -> set[str]:
    with engine.connect() as connection:
        return set(connection.scalars(text("select datname from pg_database")))


@pytest.fixture
def newer(here: Engine, tmp_path: Path) -> Iterator[Path]:
    """A service of the next version, which this process is of meanwhile: its migrations."""
    with next_version.installed(tmp_path) as folder:
        schema_upgrade.upgrade(here.url.render_as_string(hide_password=False))
        yield folder


def test_a_file_of_an_older_version_is_migrated(
    elsewhere: Engine, exported: bytes, here: Engine, newer: Path, store: BlobStore, tmp_path: Path
) -> None:
    before = databases(here)
    number = taken(here, exported, tmp_path, store)
    with transaction(elsewhere) as there, transaction(here) as session:
        wanted = told(show_whole(there, 1))
        wanted["question"] = next_version.ASKED + wanted["question"]
        assert told(show_whole(session, number)) == wanted
        assert stacks(session) == stacks(there)
    assert databases(here) == before


def test_what_a_killed_import_left_goes_with_the_next_one(
    here: Engine, newer: Path, store: BlobStore, tmp_path: Path
) -> None:
    before = databases(here)
    environment = Command(tmp_path, here.url.render_as_string(hide_password=False)).environment
    words = [*next_version.command(newer), "experiment", "import", str(DEMO)]
    with subprocess.Popen(words, cwd=REPOSITORY, env=environment) as process:
        deadline = time.monotonic() + 60
        while not (left := databases(here) - before) and time.monotonic() < deadline:
            time.sleep(0.01)
        process.kill()
    assert left <= databases(here)
    # One that goes on holds its lock; another service's has another number.
    [name] = left
    prefix = name.rpartition("_")[0]
    kept = {f"{prefix}_7", "mitigauge_import_1_7"}
    with here.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        for each in kept:
            connection.execute(text(f"create database {each}"))
        with advisory_lock(here, Lock.IMPORT, 7):
            taken(here, DEMO.read_bytes(), tmp_path, store)
        assert databases(here) == before | kept
        for each in kept:
            connection.execute(text(f"drop database {each}"))


OLDER: dict[str, tuple[Change, str]] = {
    "unknown column": (lambda ls: first(ls, "boot").update(extra=1), "not taken"),
    "sql for a column": (lambda ls: first(ls, "boot").update({'x" from host; --': 1}), "not taken"),
    "unknown table": (lambda ls: ls.insert(2, {"table": "song", "row": {}}), "no table"),
    "a parent outside": (lambda ls: first(ls, "run").update(host_id=77), "not taken"),
    "an open run": (lambda ls: first(ls, "run").update(state="running"), "not over"),
}


@pytest.mark.parametrize("kind", OLDER)
def test_a_hostile_file_of_an_older_version_leaves_nothing_either(
    kind: str, exported: bytes, engine: Engine, store: BlobStore, tmp_path: Path
) -> None:
    change, reason = OLDER[kind]
    listed = lines_of(exported)[:-1]
    change(listed)
    with next_version.installed(tmp_path):
        schema_upgrade.upgrade(engine.url.render_as_string(hide_password=False))
        before = databases(engine)
        with pytest.raises(InvalidInput, match=reason):
            taken(engine, packed(listed), tmp_path, store)
    assert not any(row_counts(engine).values())
    assert databases(engine) == before


def test_the_recorded_demo_is_small_and_can_be_read(
    engine: Engine, store: BlobStore, tmp_path: Path
) -> None:
    assert DEMO.stat().st_size < 1_000_000
    done = import_experiment(engine, DEMO, store)
    with transaction(engine) as session:
        view = show_whole(session, done.experiment_id)
    assert view.boots
    assert view.emulated
    assert any(row.profiled for comparison in view.comparisons for row in comparison.rows)
