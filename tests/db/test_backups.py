"""Backups on real databases: there and back, while others write, killed, and of hostile files."""

from __future__ import annotations

import hashlib
import io
import json
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from obstore.store import MemoryStore
from sqlalchemy import text

from mitigauge.access.secret import stored_key
from mitigauge.core.errors import Conflict, InvalidInput, NotReady
from mitigauge.core.settings import REPOSITORY, Settings
from mitigauge.storage.database.engine import (
    advisory_lock,
    new_engine,
    require_head,
)
from mitigauge.storage.database.locks import Lock
from mitigauge.storage.database.metadata import whole_metadata
from mitigauge.storage.database.schema_revision import wanted_revision
from mitigauge.storage.files.blobs import BlobStore, blob_store
from mitigauge.upkeep.backups import repository, restore, sections
from mitigauge.upkeep.backups.blob_check import check_blobs
from mitigauge.upkeep.backups.restore import Restored
from mitigauge.upkeep.backups.restore import restore as put_back
from mitigauge.upkeep.backups.sections import Manifest, TableHead, Writer
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

    def put_back(self, file: Path) -> Restored:
        return put_back(self.engine, self.blobs, self.home, file)

    def run(self, statement: str, **values: object) -> object:
        with self.engine.begin() as connection:
            return connection.execute(text(statement), values).scalar()

    def figures(self) -> dict[str, sections.TableFigures]:
        """Rows, bytes and digest of each table."""
        with repository.snapshot(self.engine) as connection:
            return {
                shape.table: sections.figures_of(repository.copied(connection, shape))
                for shape in repository.shapes(connection)
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
    [file] = directory.iterdir()
    return file


def test_a_backup_put_back_is_the_same_service(source: Place, taken: Path, make: Make) -> None:
    assert taken.stat().st_mode & 0o777 == 0o600
    there = make()
    said = there.command.run("db", "restore", taken).stdout
    assert "the access key" in said
    before, after = source.figures(), there.figures()
    # The row of the backup itself was not finished when it was written.
    assert before.pop("backup").rows == after.pop("backup").rows == 1
    # After it was written, the one notes that it was taken, the other that it was put back.
    assert before.pop("audit_entry").rows == after.pop("audit_entry").rows
    assert there.run("select action from audit_entry order by id desc limit 1") == "backup.restore"
    assert before == after
    assert stored_key(there.home) == stored_key(source.home) is not None
    assert there.files() == source.files()
    report = ("experiment", "report", "1")
    assert there.command.run(*report).stdout == source.command.run(*report).stdout
    assert there.command.run("db", "check").returncode == 0
    assert "known" in there.command.run("token", "list").stdout


def test_numbers_that_were_given_are_not_given_again(
    source: Place, taken: Path, make: Make
) -> None:
    there = make()
    there.put_back(taken)
    assert there.run(NEXT_HOST) == source.run(
        "select last_value + 1 from pg_sequences where sequencename = 'host_id_seq'"
    )
    with there.engine.connect() as connection:
        repeated = repository.sequences(connection)
    assert set(repeated) == set(
        json.loads(source.command.run("db", "backup", there.home, "--json").stdout)["sequences"]
    )


def test_it_is_put_back_where_there_is_not_even_a_table(taken: Path, make: Make) -> None:
    there = make(schema=False)
    there.put_back(taken)
    require_head(there.engine)
    assert there.run("select count(*) from experiment") == 1


def test_one_of_an_older_schema_is_brought_to_this_one(make: Make, tmp_path: Path) -> None:
    old = make()
    old.command.run("experiment", "import", DEMO)
    file = tmp_path / f"old{sections.SUFFIX}"
    write_backup(old.engine, old.blobs, old.home, file)
    with next_version.installed(tmp_path):
        there = make(schema=False)
        there.put_back(file)
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
        file = tmp_path / f"a{sections.SUFFIX}"
        written = write_backup(place.engine, place.blobs, place.home, file, wait_for_another)
    finally:
        over.set()
        thread.join()
    there = make()
    there.put_back(file)
    jobs, events = (there.run(f"select count(*) from {t}") for t in ("job", "job_event"))
    assert 0 < jobs == events < place.run("select count(*) from job")
    assert written.manifest.blobs == jobs
    assert check_blobs(there.engine, there.blobs).unsound == []
    assert set(place.command.run("db", "status").stdout.split()) >= {"no", "backup"}


def test_nobody_prunes_while_a_backup_is_taken(make: Make, tmp_path: Path) -> None:
    place = make()
    said = set()

    def meanwhile(_: str) -> None:
        said.add(prune(place.engine, place.settings).skipped)

    write_backup(place.engine, place.blobs, place.home, tmp_path / "a", meanwhile)
    assert said == {"another process is pruning already, or takes a backup"}
    assert prune(place.engine, place.settings).skipped == ""


def test_a_backup_never_replaces_a_file(source: Place, tmp_path: Path) -> None:
    file = tmp_path / "precious"
    file.write_text("precious")
    said = source.command.run("db", "backup", file, code=1).stderr
    assert "is there already" in said
    assert file.read_text() == "precious"
    said = source.command.run("db", "backup", tmp_path / "none" / "a", code=1).stderr
    assert "cannot be written: No such file or directory" in said
    assert "MITIGAUGE_BACKUP_DIRECTORY" in source.command.run("db", "backup", code=1).stderr


def test_one_that_was_ended_leaves_nothing(source: Place, tmp_path: Path) -> None:
    def end(_: str) -> None:
        raise Conflict("enough")

    with pytest.raises(Conflict, match="enough"):
        write_backup(source.engine, source.blobs, source.home, tmp_path / "a", end)
    assert list(tmp_path.iterdir()) == []


BACKUP_POINTS = [
    ("mitigauge.upkeep.backups.repository:copied", 20),
    ("mitigauge.storage.files.blobs:BlobStore.get", 3),
    ("mitigauge.upkeep.backups.writer:read_again", 1),
]


@pytest.mark.parametrize(("function", "call"), BACKUP_POINTS)
def test_a_backup_that_is_killed_has_no_file(
    source: Place, tmp_path: Path, function: str, call: int
) -> None:
    kill(source, function, call, "before", "db", "backup", str(tmp_path / "a"))
    assert not (tmp_path / "a").exists()
    assert [path.name.startswith(".a.") for path in tmp_path.iterdir()] == [True]
    source.command.run("db", "backup", tmp_path / "a")
    source.run(
        "delete from backup where finished_at is null or path like :p returning 1", p=f"{tmp_path}%"
    )


RESTORE_POINTS = [
    # What is there afterwards: nothing, a marked database, or all.
    ("mitigauge.upkeep.backups.sections:check", 1, "after", "nothing"),
    ("mitigauge.upkeep.backups.repository:set_revision", 1, "before", "nothing"),
    ("mitigauge.upkeep.backups.repository:put_copied", 30, "after", "marked"),
    ("mitigauge.upkeep.backups.repository:add_references", 1, "after", "marked"),
    ("mitigauge.access.secret:_create", 1, "before", "marked"),
    ("mitigauge.storage.files.blobs:BlobStore.put_stream", 1, "before", "marked"),
    ("mitigauge.storage.files.blobs:BlobStore.put_stream", 7, "after", "marked"),
    ("mitigauge.storage.database.schema_upgrade:upgrade", 1, "before", "all"),
]


@pytest.mark.parametrize(("function", "call", "when", "left"), RESTORE_POINTS)
def test_a_restore_that_is_killed_looks_like_nothing_and_is_gone_on_with(
    source: Place, taken: Path, make: Make, function: str, call: int, when: str, left: str
) -> None:
    there = make()
    kill(there, function, call, when, "db", "restore", str(taken))
    if left == "all":
        with pytest.raises(Conflict, match="would be lost"):
            there.put_back(taken)
    else:
        assert there.run("select count(*) from experiment") == 0
        if left == "marked":
            with pytest.raises(NotReady, match="being restored"):
                require_head(there.engine)
        there.put_back(taken)
    assert there.files() == source.files()
    assert stored_key(there.home) == stored_key(source.home)
    without = {"backup": None, "audit_entry": None}
    assert {**there.figures(), **without} == {**source.figures(), **without}
    told = "select count(*) from audit_entry where action = 'backup.restore'"
    assert there.run(told) == 1


def test_every_command_refuses_a_database_that_is_not_wholly_restored(
    source: Place, taken: Path, make: Make
) -> None:
    there = make()
    point = ("mitigauge.upkeep.backups.repository:add_references", 1, "after")
    kill(there, *point, "db", "restore", str(taken))
    for words in (("experiment", "list"), ("experiment", "report", "1"), ("db", "upgrade")):
        assert "db restore FILE" in there.command.run(*words, code=1).stderr
    assert "restoring" in there.command.run("db", "status").stdout
    there.command.run("db", "restore", taken)
    report = ("experiment", "report", "1")
    assert there.command.run(*report).stdout == source.command.run(*report).stdout


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
    before = source.figures()
    said = source.command.run("db", "restore", taken, code=1).stderr
    assert "would be lost: the database holds 1 row of experiment, 2 rows of run" in said
    assert "MITIGAUGE_HOME" in said
    assert source.figures() == before
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
        assert sum(figures.rows for figures in place.figures().values()) == 0


def test_of_two_restores_at_once_one_is_refused(taken: Path, make: Make) -> None:
    there = make()
    with (
        advisory_lock(there.engine, Lock.RESTORE),
        pytest.raises(Conflict, match="another restore"),
    ):
        there.put_back(taken)
    there.put_back(taken)


def test_a_disk_that_is_too_small_is_said_before_anything_is_touched(
    taken: Path, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = make()
    full = restore.shutil.disk_usage("/")._replace(free=1000)
    monkeypatch.setattr(restore.shutil, "disk_usage", lambda _: full)
    with pytest.raises(NotReady, match="1,000 left"):
        there.put_back(taken)
    assert there.files() == set()
    require_head(there.engine)


def test_a_file_that_is_damaged_cut_off_or_newer_touches_nothing(
    taken: Path, make: Make, tmp_path: Path
) -> None:
    there, whole = make(), taken.read_bytes()
    middle = len(whole) // 2
    newer = io.BytesIO()
    header = sections.Header(
        format=1, version="9.1", revision="9999", taken_at="2030-01-01T00:00:00Z"
    )
    Writer(newer, header)._out.close()
    for content, said in (
        (whole[:middle], "cut off"),
        (whole[:-1], "cut off"),
        (whole[:middle] + b"\0\0" + whole[middle + 2 :], "damaged"),
        (newer.getvalue(), "written by Mitigauge 9.1 with schema 9999"),
        (DEMO.read_bytes(), "not that of a backup"),
        (b"", "cut off"),
    ):
        file = tmp_path / "bad"
        file.write_bytes(content)
        with pytest.raises(InvalidInput, match=f"bad: .*{said}"):
            there.put_back(file)
    with pytest.raises(InvalidInput, match="/nowhere cannot be read: No such file"):
        there.put_back(Path("/nowhere"))
    file.write_bytes(whole[:middle])
    assert "bad: it is cut off" in there.command.run("db", "restore", file, code=1).stderr
    assert there.files() == set()
    assert stored_key(there.home) is None
    require_head(there.engine)


@contextmanager
def changed(taken: Path, tmp_path: Path) -> Iterator[tuple[dict, list, Path]]:
    """A backup's manifest and sections to be changed, and the file that is made of them."""
    with taken.open("rb") as stream:
        size = taken.stat().st_size
        header, manifest = sections.check(stream, "a", size)
        parts: list[list] = [
            [section.head, b"".join(section.pieces)]
            for section in sections.sections(stream, "a", size)
        ]
    values, file = manifest.model_dump(), tmp_path / "hostile"
    yield values, parts, file
    with file.open("wb") as stream:
        out = Writer(stream, header)
        values["tables"] = {}
        for head, content in parts:
            figures = out.add(head, [content])
            if isinstance(head, TableHead):
                values["tables"][head.table] = figures
        out.close(Manifest.model_validate(values))


def of_table(parts: list, name: str) -> list:
    return next(part for part in parts if getattr(part[0], "table", "") == name)


def foreign_table(values: dict, parts: list) -> None:
    parts.insert(0, [TableHead(table="pg_authid", columns=["rolname"]), b"x\n"])


def other_columns(values: dict, parts: list) -> None:
    part = of_table(parts, "host")
    part[0] = TableHead(table="host", columns=[*part[0].columns, "rolsuper"])


def lacking_table(values: dict, parts: list) -> None:
    parts.remove(of_table(parts, "host"))


def foreign_sequence(values: dict, parts: list) -> None:
    values["sequences"]["procrastinate_jobs_id_seq"] = 1


def row_that_is_none(values: dict, parts: list) -> None:
    of_table(parts, "host")[1] += b"not a row\n"


def row_that_points_nowhere(values: dict, parts: list) -> None:
    part = of_table(parts, "job_event")
    part[0] = TableHead(table="job_event", columns=["id", "job_id", "at", "text"])
    part[1] = b"1\t99\t2026-01-01 00:00:00+00\tx\n"


def row_spelled_otherwise(values: dict, parts: list) -> None:
    part = of_table(parts, "pruning")
    part[0] = TableHead(table="pruning", columns=["id", "started_at", "finished_at", "removed"])
    part[1] = b"1\t2026-01-01 00:00:00+00\t2026-01-01 00:00:00+00\t[1,2]\n"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (foreign_table, "pg_authid, which is none of ours"),
        (other_columns, "other columns"),
        (lacking_table, "lacks the table"),
        (foreign_sequence, "procrastinate_jobs_id_seq, which is none of ours"),
        (row_that_is_none, "host: not taken by the database"),
        (row_that_points_nowhere, "what rows point at: not taken by the database"),
        (row_spelled_otherwise, "not those of its manifest"),
    ],
)
def test_a_whole_file_of_something_else_leaves_the_database_empty(
    taken: Path, make: Make, tmp_path: Path, change: Callable, said: str
) -> None:
    there = make()
    with changed(taken, tmp_path) as (values, parts, file):
        change(values, parts)
    with pytest.raises(InvalidInput, match=said):
        there.put_back(file)
    require_head(there.engine)
    assert sum(figures.rows for figures in there.figures().values()) == 0
    assert there.files() == set()
    assert stored_key(there.home) is None
    there.put_back(taken)


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
    assert (written.manifest.unsound_blobs, written.manifest.blobs) == (2, 0)
    assert set(written.manifest.unsound) == {lost, "odd"}
    there = make()
    said = there.command.run("db", "restore", tmp_path / "a").stderr
    assert "2 raw files were missing or damaged" in said


def test_raw_files_of_a_bucket_go_into_a_directory_and_back(
    source: Place, make: Make, tmp_path: Path
) -> None:
    bucket, file = BlobStore(MemoryStore(), "s3://bucket/there"), tmp_path / "a"
    for digest in source.files():
        bucket.put(source.blobs.read(digest))
    write_backup(source.engine, bucket, source.home, file)
    there, other = make(), make()
    there.put_back(file)
    assert there.files() == source.files()
    into = BlobStore(MemoryStore(), "s3://bucket/other")
    put_back(other.engine, into, other.home, file)
    assert check_blobs(other.engine, into).unsound == []
    full = make()
    with pytest.raises(Conflict, match="s3://bucket/other holds raw files"):
        put_back(full.engine, into, full.home, file)


def test_every_table_is_kept_but_the_queues(source: Place) -> None:
    with source.engine.connect() as connection:
        kept = {shape.table for shape in repository.shapes(connection)}
    assert kept == set(whole_metadata().tables)
    assert wanted_revision()
