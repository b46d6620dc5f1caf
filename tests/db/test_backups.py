"""Backups on real databases: there and back, while others write, killed, damaged, and old ones."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from obstore.store import MemoryStore
from sqlalchemy import MetaData, text
from sqlalchemy.exc import DBAPIError

from mitigauge.access.secret import stored_key
from mitigauge.core.errors import Conflict, InvalidInput, NotReady
from mitigauge.core.settings import REPOSITORY, Settings
from mitigauge.storage.database.engine import advisory_lock, new_engine, require_head
from mitigauge.storage.database.locks import Lock
from mitigauge.storage.files.blobs import BlobStore, blob_store
from mitigauge.upkeep.backups import programs, writer
from mitigauge.upkeep.backups.blob_check import check_blobs
from mitigauge.upkeep.backups.manifest import Manifest, blob_path
from mitigauge.upkeep.backups.restore import restore as put_back
from mitigauge.upkeep.backups.writer import write_backup
from mitigauge.upkeep.retention.service import prune
from tests import next_version, zygote
from tests.commands import Command
from tests.postgres import MIGRATED, Databases

DEMO = REPOSITORY / "db" / "recorded" / "lab-demo.mitigauge.zst"
NEXT_HOST = (
    "insert into host (environment, name, host_class, machine, emulated, capabilities)"
    " values ('lab', 'new', 'c', 'm', false, '[]') returning id"
)


class Place:
    """A database and a state directory of their own."""

    def __init__(self, url: str, home: Path) -> None:
        home.mkdir(exist_ok=True)
        self.command = Command(home, url)
        self.url, self.home = url, home
        self.engine = new_engine(url, pooled=False)
        self.settings = Settings(home=home, database_url=url)

    @property
    def blobs(self) -> BlobStore:
        return blob_store(self.settings)

    def put_back(self, backup: Path) -> Manifest:
        return put_back(self.engine, self.blobs, self.home, backup)

    def run(self, statement: str, **values: object) -> object:
        with self.engine.begin() as connection:
            return connection.execute(text(statement), values).scalar()

    def rows(self) -> dict[str, list[str]]:
        """All rows of each table, as text, but those of the queue."""
        tables = MetaData()
        tables.reflect(self.engine)
        names = [name for name in tables.tables if not name.startswith("procrastinate")]
        with self.engine.connect() as connection:
            return {
                name: sorted(connection.scalars(text(f'select t::text from "{name}" t')))
                for name in names
            }

    def files(self) -> set[str]:
        return {stored.digest for page in self.blobs.listed() for stored in page}


Make = Callable[..., Place]


@pytest.fixture(scope="module")
def make(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Make]:
    """Makes empty places; with *schema* at head, else without any table."""
    with ExitStack() as stack:

        def one(*, schema: bool = True) -> Place:
            url = stack.enter_context(databases.copied(MIGRATED if schema else "template1"))
            place = Place(url, tmp_path_factory.mktemp("place"))
            stack.callback(place.engine.dispose)
            return place

        yield one


@pytest.fixture(scope="module")
def source(make: Make) -> Place:
    """A service in use: the recorded experiment, its raw files, a token, numbers given before."""
    place = make()
    place.command.run("experiment", "import", DEMO)
    place.command.run("token", "create", "known", "--role", "viewer")
    name_blobs(place, ["result", "profile"])
    place.run("select nextval(pg_get_serial_sequence('host', 'id')) from generate_series(1, 40)")
    return place


def name_blobs(place: Place, tables: list[str]) -> None:
    """Have rows name raw files that are there: one of them empty, one large."""
    contents = [b"", os.urandom(9 << 20), *(b"raw %d" % number for number in range(20))]
    digests = [place.blobs.put(content) for content in contents]
    for table in tables:
        statement = (
            f"update {table} t set raw_sha256 = (cast(:digests as text[]))[1 + (n.place - 1) % 22]"
            f" from (select ctid, row_number() over (order by ctid) as place from {table}) n"
            " where n.ctid = t.ctid"
        )
        place.run(statement + " returning 1", digests=digests)


@pytest.fixture(scope="module")
def taken(source: Place, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup of it, by the command."""
    directory = tmp_path_factory.mktemp("backups")
    source.command.run("db", "backup", directory)
    [backup] = directory.iterdir()
    return backup


def test_a_backup_put_back_is_the_same_service(source: Place, taken: Path, make: Make) -> None:
    assert taken.stat().st_mode & 0o777 == 0o700
    there = make()
    said = there.command.run("db", "restore", taken).stdout
    assert "the access key" in said
    before, after = source.rows(), there.rows()
    # The row of the backup itself was not finished when it was written.
    assert len(before.pop("backup")) == len(after.pop("backup")) == 1
    # After it was written, the one notes that it was taken, the other that it was put back.
    assert len(before.pop("audit_entry")) == len(after.pop("audit_entry"))
    assert there.run("select action from audit_entry order by id desc limit 1") == "backup.restore"
    assert before == after
    assert stored_key(there.home) == stored_key(source.home) is not None
    assert there.files() == source.files()
    report = ("experiment", "report", "1")
    assert there.command.run(*report).stdout == source.command.run(*report).stdout
    assert there.command.run("db", "check").returncode == 0
    assert "known" in there.command.run("token", "list").stdout
    with pytest.raises(DBAPIError, match="audit"):
        there.run("delete from audit_entry returning 1")
    assert there.run(NEXT_HOST) == source.run(
        "select last_value + 1 from pg_sequences where sequencename = 'host_id_seq'"
    )


def test_it_is_put_back_where_there_is_not_even_a_table(taken: Path, make: Make) -> None:
    there = make(schema=False)
    there.put_back(taken)
    require_head(there.engine)
    assert there.run("select count(*) from experiment") == 1
    # The queue has its tables, and nothing in them.
    assert there.run("select count(*) from procrastinate_jobs") == 0


def test_one_of_an_older_schema_is_brought_to_this_one(make: Make, tmp_path: Path) -> None:
    old = make()
    old.command.run("experiment", "import", DEMO)
    backup = tmp_path / "old"
    write_backup(old.engine, old.blobs, old.home, backup)
    with next_version.installed(tmp_path):
        there = make(schema=False)
        there.put_back(backup)
        require_head(there.engine)
    assert there.run("select question from experiment").startswith(next_version.ASKED)
    assert there.run("select count(*) from boot") == old.run("select count(*) from boot") > 0


def test_a_backup_is_of_one_moment_while_others_write(make: Make, tmp_path: Path) -> None:
    place, over, wrote = make(), threading.Event(), threading.Event()

    def write() -> None:
        number = 0
        while not over.is_set():
            digest = place.blobs.put(b"%d" % number)
            with place.engine.begin() as connection:
                job = connection.execute(
                    text(
                        "insert into job (kind, subject, need, asked_by, content_sha256)"
                        " values ('kernel', :s, 'kernels', 'ann', :d) returning id"
                    ),
                    {"s": str(number), "d": digest},
                ).scalar_one()
                connection.execute(
                    text("insert into job_event (job_id, text) values (:job, 'x')"), {"job": job}
                )
            number += 1
            wrote.set()

    def wait_for_another(_: object = None) -> None:
        wrote.clear()
        assert wrote.wait(60)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        wait_for_another()
        file = tmp_path / "a"
        written = write_backup(place.engine, place.blobs, place.home, file, wait_for_another)
    finally:
        over.set()
        thread.join()
    there = make()
    there.put_back(file)
    jobs, events = (there.run(f"select count(*) from {t}") for t in ("job", "job_event"))
    assert 0 < jobs == events < place.run("select count(*) from job")
    assert len(written.manifest.blobs) == jobs
    assert check_blobs(there.engine, there.blobs).unsound == []
    assert set(place.command.run("db", "status").stdout.split()) >= {"no", "backup"}


def test_nobody_prunes_while_a_backup_is_taken(make: Make, tmp_path: Path) -> None:
    place = make()
    said = set()

    def meanwhile(words: str) -> None:
        if words.startswith("database"):
            said.add(prune(place.engine, place.settings).skipped)

    write_backup(place.engine, place.blobs, place.home, tmp_path / "a", meanwhile)
    assert said == {"another process is pruning already, or takes a backup"}
    assert prune(place.engine, place.settings).skipped == ""


def test_a_backup_never_replaces_anything(source: Place, tmp_path: Path) -> None:
    file = tmp_path / "precious"
    file.write_text("precious")
    said = source.command.run("db", "backup", file, code=1).stderr
    assert "is there already" in said
    assert file.read_text() == "precious"
    said = source.command.run("db", "backup", tmp_path / "none" / "a", code=1).stderr
    assert "cannot be written: No such file or directory" in said
    assert "MITIGAUGE_BACKUP_DIRECTORY" in source.command.run("db", "backup", code=1).stderr


def test_one_that_was_ended_or_met_a_full_disk_leaves_nothing(
    source: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def end(_: str) -> None:
        raise Conflict("enough")

    with pytest.raises(Conflict, match="enough"):
        write_backup(source.engine, source.blobs, source.home, tmp_path / "a", end)
    assert list(tmp_path.iterdir()) == []

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writer, "_write", full)
    with pytest.raises(InvalidInput, match="No space left on device"):
        write_backup(source.engine, source.blobs, source.home, tmp_path / "a")
    assert list(tmp_path.iterdir()) == []


def test_a_database_that_cannot_be_dumped_leaves_nothing(
    source: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "NOT_KEPT", "a.b.c.d")
    with pytest.raises(NotReady, match="pg_dump failed"):
        write_backup(source.engine, source.blobs, source.home, tmp_path / "a")
    assert list(tmp_path.iterdir()) == []


def test_a_second_backup_shares_raw_files_with_the_first_unless_they_are_damaged(
    source: Place, taken: Path
) -> None:
    first = sorted(source.files())[0]
    other = sorted(source.files())[1]
    damaged = blob_path(taken, other)
    kept = damaged.read_bytes()
    damaged.write_bytes(b"damaged")
    try:
        second = taken.with_name(f"second{taken.suffix}")
        write_backup(source.engine, source.blobs, source.home, second)
        assert blob_path(second, first).samefile(blob_path(taken, first))
        assert not blob_path(second, other).samefile(damaged)
        assert blob_path(second, other).read_bytes() == kept
    finally:
        damaged.write_bytes(kept)
        shutil.rmtree(second)


BACKUP_POINTS = [
    ("mitigauge.upkeep.backups.programs:dump", 1, "after"),
    ("mitigauge.storage.files.blobs:BlobStore.get", 3, "before"),
    ("mitigauge.upkeep.backups.manifest:damage", 1, "before"),
]


@pytest.mark.parametrize(("function", "call", "when"), BACKUP_POINTS)
def test_a_backup_that_is_killed_does_not_look_whole(
    source: Place, tmp_path: Path, function: str, call: int, when: str
) -> None:
    kill(source, function, call, when, "db", "backup", str(tmp_path / "a"))
    assert not (tmp_path / "a").exists()
    assert [path.name.startswith(".a.") for path in tmp_path.iterdir()] == [True]
    source.command.run("db", "backup", tmp_path / "a")
    source.run(
        "delete from backup where finished_at is null or path like :p returning 1", p=f"{tmp_path}%"
    )


RESTORE_POINTS = [
    ("mitigauge.storage.files.blobs:BlobStore.put_stream", 1, "before"),
    ("mitigauge.storage.files.blobs:BlobStore.put_stream", 7, "after"),
    ("mitigauge.access.secret:_create", 1, "after"),
    ("mitigauge.upkeep.backups.repository:drop_all", 1, "after"),
    ("mitigauge.upkeep.backups.programs:put_back", 1, "before"),
]


@pytest.mark.parametrize(("function", "call", "when"), RESTORE_POINTS)
def test_a_restore_that_is_killed_leaves_an_empty_database_and_is_gone_on_with(
    source: Place, taken: Path, make: Make, function: str, call: int, when: str
) -> None:
    there = make()
    kill(there, function, call, when, "db", "restore", str(taken))
    assert not any(rows for name, rows in there.rows().items() if name != "alembic_version")
    there.put_back(taken)
    assert there.files() == source.files()
    assert stored_key(there.home) == stored_key(source.home)
    without: dict[str, list[str]] = {"backup": [], "audit_entry": []}
    assert there.rows() | without == source.rows() | without
    told = "select count(*) from audit_entry where action = 'backup.restore'"
    assert there.run(told) == 1


def kill(place: Place, function: str, call: int, when: str, *words: str) -> None:
    """Run a command that SIGKILL ends at that call of a function."""
    done = zygote.run(
        "killed",
        [function, str(call), when, *words],
        env=place.command.environment,
        timeout=120,
    )
    assert done.returncode == -signal.SIGKILL, done.stdout + done.stderr


def test_nothing_goes_over_a_database_that_is_in_use(
    source: Place, taken: Path, make: Make
) -> None:
    before = source.rows()
    said = source.command.run("db", "restore", taken, code=1).stderr
    assert "would be lost: the database holds 1 row of experiment, 2 rows of run" in said
    assert "MITIGAUGE_HOME" in said
    assert source.rows() == before
    one = make()
    one.run(NEXT_HOST)
    with pytest.raises(Conflict, match="1 row of host"):
        one.put_back(taken)


def test_nothing_goes_over_a_state_directory_that_is_in_use(taken: Path, make: Make) -> None:
    keyed, stored = make(), make()
    (keyed.home / "access-key").write_bytes(b"k" * 32)
    with pytest.raises(Conflict, match="has an access key"):
        keyed.put_back(taken)
    assert (keyed.home / "access-key").read_bytes() == b"k" * 32
    stored.blobs.put(b"somebody's")
    with pytest.raises(Conflict, match="holds raw files"):
        stored.put_back(taken)
    for place in (keyed, stored):
        require_head(place.engine)


def test_of_two_restores_at_once_one_is_refused(taken: Path, make: Make) -> None:
    there = make()
    with (
        advisory_lock(there.engine, Lock.RESTORE),
        pytest.raises(Conflict, match="another restore"),
    ):
        there.put_back(taken)
    there.put_back(taken)


@pytest.fixture
def copied(taken: Path, tmp_path: Path) -> Path:
    """A copy of the backup, to be damaged."""
    return shutil.copytree(taken, tmp_path / "bad.backup")


def test_a_backup_that_is_damaged_names_its_files_and_touches_nothing(
    copied: Path, make: Make
) -> None:
    there = make()
    whole = there.command.run("db", "check", copied).stdout
    assert "is whole" in whole
    damaged, missing = [path for path in (copied / "blobs").rglob("*") if path.is_file()][:2]
    damaged.write_bytes(b"x")
    missing.unlink()
    said = there.command.run("db", "check", copied, code=1).stdout
    assert damaged.name in said
    assert missing.name in said
    found = there.command.run("db", "check", copied, "--json", code=1).stdout
    assert len(json.loads(found)["damaged"]) == 2
    with (copied / "database.dump").open("r+b") as dump:
        dump.truncate(1000)
    with pytest.raises(InvalidInput, match=r"missing or damaged: database\.dump"):
        there.put_back(copied)
    (copied / "manifest.json").write_text("{")
    with pytest.raises(InvalidInput, match=r"manifest\.json is damaged"):
        there.put_back(copied)
    with pytest.raises(InvalidInput, match="/nowhere cannot be read: No such file"):
        there.put_back(Path("/nowhere"))
    assert there.files() == set()
    assert stored_key(there.home) is None
    require_head(there.engine)


def test_one_of_a_newer_schema_is_refused_by_name(copied: Path, make: Make) -> None:
    manifest = json.loads((copied / "manifest.json").read_text())
    newer = manifest | {"revision": "9999", "version": "9.1"}
    (copied / "manifest.json").write_text(json.dumps(newer))
    with pytest.raises(InvalidInput, match=r"written by Mitigauge 9\.1 with schema 9999"):
        make().put_back(copied)


def test_what_the_database_refuses_leaves_it_empty(copied: Path, make: Make) -> None:
    (copied / "database.dump").write_bytes(b"PGDMP no dump")
    manifest = json.loads((copied / "manifest.json").read_text())
    digest = hashlib.sha256(b"PGDMP no dump").hexdigest()
    manifest["database"] = {"bytes": 13, "sha256": digest}
    (copied / "manifest.json").write_text(json.dumps(manifest))
    there = make()
    with pytest.raises(NotReady, match="pg_restore failed"):
        there.put_back(copied)
    assert there.run("select count(*) from pg_tables where schemaname = 'public'") == 0


@pytest.mark.parametrize("name", ["a.mitigauge-backup", "renamed"])
def test_one_of_the_form_before_names_the_release_that_restores_it(
    make: Make, tmp_path: Path, name: str
) -> None:
    old = tmp_path / name
    old.write_bytes(b"\x28\xb5\x2f\xfdx")
    for words in (("restore",), ("check",)):
        said = make().command.run("db", *words, old, code=1).stderr
        assert "as backups were up to commit 2a120b5b of Mitigauge" in said
        assert "check out commit 2a120b5b" in " ".join(said.split())
    empty = tmp_path / "none.mitigauge-backup"
    empty.touch()
    with pytest.raises(InvalidInput, match="a backup is a directory, and this is a file"):
        make().put_back(empty)
    (tmp_path / "b").write_text("text")
    with pytest.raises(InvalidInput, match="a backup is a directory"):
        make().put_back(tmp_path / "b")


def test_check_names_what_is_missing_and_what_is_damaged_and_who_names_it(make: Make) -> None:
    place = make()
    place.command.run("experiment", "import", DEMO)
    assert "40 more were left out of what was imported" in place.command.run("db", "check").stdout
    name_blobs(place, ["result"])
    place.command.run("db", "check")
    missing = hashlib.sha256(b"raw 3").hexdigest()
    damaged = hashlib.sha256(b"raw 4").hexdigest()
    (place.home / "blobs" / missing[:2] / missing).unlink()
    (place.home / "blobs" / damaged[:2] / damaged).write_bytes(b"raw 5")
    # Of an experiment from a file a raw file may have been left out; of our own it may not.
    place.run("update experiment set recorded_at = null, recorded_from = null returning 1")
    done = place.command.run("db", "check", code=1).stdout
    assert missing in done
    assert "result.raw_sha256" in done
    found = json.loads(place.command.run("db", "check", "--json", code=1).stdout)
    faults = {
        blob["digest"]: blob["fault"]
        for blob in found["unsound"]
        if blob["digest"] in (missing, damaged)
    }
    assert faults == {missing: "missing", damaged: "damaged"}
    [naming] = next(blob for blob in found["unsound"] if blob["digest"] == missing)["named_by"]
    rows = place.run("select count(*) from result where raw_sha256 = :d", d=missing)
    assert (naming["table"], naming["count"]) == ("result", rows)
    assert len(naming["rows"]) == rows


def test_a_backup_is_taken_where_raw_files_are_lost_and_says_so(make: Make, tmp_path: Path) -> None:
    place = make()
    lost = place.blobs.put(b"lost")
    place.run(
        "insert into job (kind, subject, need, asked_by, content_sha256)"
        " values ('kernel', '1', 'kernels', 'ann', :d), ('kernel', '2', 'kernels', 'ann', 'odd')"
        " returning id",
        d=lost,
    )
    (place.home / "blobs" / lost[:2] / lost).write_bytes(b"other")
    written = write_backup(place.engine, place.blobs, place.home, tmp_path / "a")
    assert (written.manifest.unsound_blobs, written.manifest.blobs) == (2, {})
    assert set(written.manifest.unsound) == {lost, "odd"}
    there = make()
    said = there.command.run("db", "restore", tmp_path / "a").stderr
    assert "2 raw files were missing or damaged" in said


def test_raw_files_of_a_bucket_go_into_a_directory_and_back(
    source: Place, make: Make, tmp_path: Path
) -> None:
    bucket, backup = BlobStore(MemoryStore(), "s3://bucket/there"), tmp_path / "a"
    for digest in source.files():
        bucket.put(source.blobs.read(digest))
    write_backup(source.engine, bucket, source.home, backup)
    there, other = make(), make()
    there.put_back(backup)
    assert there.files() == source.files()
    into = BlobStore(MemoryStore(), "s3://bucket/other")
    put_back(other.engine, into, other.home, backup)
    assert check_blobs(other.engine, into).unsound == []
    into.put(b"somebody's")
    with pytest.raises(Conflict, match="s3://bucket/other holds raw files"):
        put_back(make().engine, into, make().home, backup)
