"""Commands over the API say what they say on the service's machine; the others refuse by name."""

from __future__ import annotations

import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest
import typer
from sqlalchemy import Engine, text

from bench.store.fill import Size
from cli.main import build
from cli.remote.commands import ANYWHERE, LOCAL, REMOTE
from mitigauge.core.settings import REPOSITORY
from mitigauge.jobs.states import Ability
from mitigauge.storage.database.engine import transaction
from mitigauge.tracking.regressions.service import take_in
from mitigauge.tracking.trends.update import update
from tests.commands import CASES, LIMIT_S, Command
from tests.db.test_commands import BOOTS, DEMO, LETTER, PATCHES, SERIES
from tests.ports import free_port
from tests.remote_service import Laptop, served
from tests.trends_made import weeks
from tests.workers import announce

ARMS = """arms:
  - {name: "off", mode: spectre-bhi/off}
  - {name: loop, mode: spectre-bhi/loop}
  - {name: both, mode: spectre-bhi/loop+pti/on}
"""
# The same search is begun once while it goes on.
OTHER_ARMS = ARMS.replace("loop}", "off+swapgs/off}", 1)
SPEC = REPOSITORY / "experiments" / "lab-demo.yml"
FOLDED = CASES / "01-profile-import.folded"
ON = "--environment bench"

# Asked twice of one database: on its machine, and over the API. Words and exit code.
READING = [
    ("audit list", 0),
    ("audit list --action token.create --limit 2", 0),
    ("audit list --refused", 0),
    ("bisect list", 0),
    ("bisect list --state running --find syscall", 0),
    ("bisect list --state nothing", 1),
    ("bisect show 1", 0),
    ("bisect wait 2", 1),
    ("claims show {demo}", 0),
    ("experiment compare {demo} {demo}", 1),
    ("experiment compare 1 2", 0),
    ("experiment compare 1 2 --find x --sort q --only-differing", 0),
    ("experiment compare 1 {demo} --hosts host-1:nobody", 1),
    ("experiment compare {demo} 99999", 1),
    ("experiment table {demo} counters", 0),
    ("experiment table {demo} details", 0),
    ("experiment iterations {demo}", 0),
    ("experiment iterations {demo} --format jsonl --host lab-intel", 0),
    ("experiment limits {demo} --file {dir}/limits.yml", 0),
    ("experiment limits {demo} --file {dir}/nothing.yml", 1),
    ("experiment limits {demo}", 4),
    ("experiment wait {demo} --by-limits", 4),
    ("experiment list", 0),
    ("experiment list --before 3 --limit 1", 0),
    ("experiment list --find bench --state finished --sort name --limit 1", 0),
    ("experiment list --mode spectre-bhi --host lab-intel --verdict worse", 0),
    ("experiment list --offset 1 --limit 1 --sort oldest", 0),
    ("experiment list --offset 999", 0),
    ("experiment list --who nobody", 0),
    ("experiment list --until 2026-02-30", 1),
    ("experiment list --verdict bad", 1),
    ("experiment table {demo} loss", 0),
    ("experiment report {demo}", 0),
    ("experiment report {demo} --format csv", 0),
    ("experiment report {demo} --format json", 0),
    ("experiment report {demo} --format markdown", 0),
    ("experiment show {demo}", 0),
    ("experiment show lab-demo", 0),
    ("experiment show lab-dem", 1),
    ("experiment compare 1 lab-demo", 0),
    ("experiment table {demo}", 0),
    ("experiment table {demo} matrix", 0),
    ("experiment table {demo} matrix --format csv", 0),
    ("experiment table {demo} matrix --format markdown", 0),
    ("experiment table {demo} nothing", 1),
    ("experiment published {demo}", 0),
    ("experiment table {demo} threads", 0),
    ("experiment table {demo} threads --format csv --seconds 2", 0),
    ("experiment undecided {demo}", 0),
    ("experiment undecided 9999", 1),
    ("experiment wait {demo}", 0),
    ("experiment wait {demo} --by-verdict", 3),
    ("find bench", 0),
    ("find {demo} --limit 1", 0),
    ("find nothing at all", 0),
    ("host list", 0),
    ("host list --find host-1 --state free --state reserved", 0),
    ("host queue", 0),
    ("host show host-1", 0),
    ("host show lab-intel --environment nowhere", 1),
    ("host show nobody", 1),
    ("job list", 0),
    ("job list --state cancelled --find nothing", 0),
    ("job list --own", 0),
    ("job show 1", 0),
    ("job show 99", 1),
    ("job wait {over}", 1),
    ("kernel list", 0),
    ("kernel show nobody", 1),
    ("report weekly", 0),
    ("report weekly --format markdown", 0),
    ("report weekly --list", 0),
    ("series list", 0),
    ("series studies 1", 0),
    ("series list --state waiting --find toys", 0),
    ("series show 1", 0),
    ("series show 1 v1", 0),
    ("series show 1 --diff", 0),
    ("series show 1 v99", 1),
    ("regression error-rates", 0),
    ("regression list", 0),
    ("regression list --state open --state fixed --find load --limit 1", 0),
    ("regression list --since 2026-01-01 --owner ''", 0),
    ("regression show 1", 0),
    ("regression show 9999", 1),
    ("subscription list", 0),
    ("subscription list --everybody", 0),
    ("trends list", 0),
    ("trends list --open --limit 1", 0),
    ("trends list --workload nothing", 0),
    ("trends show 1", 0),
    ("trends show 9999", 1),
    ("worker list", 0),
]
# Those that change something: what they say differs in the numbers that are given out, and in who
# did it: a login here, a token's name there.
CHANGING = [
    ("bisect cancel 99", 1),
    ("bisect start --arms {dir}/arms.yml --no-wait", 0),
    ("bisect start {patches} --no-wait", 0),
    ("bisect start", 1),
    ("bisect start --series 1 --no-wait", 1),
    ("experiment cancel 1", 1),
    ("experiment qualify {spec} --host nobody", 1),
    ("experiment submit {spec}", 0),
    ("experiment submit --check {spec}", 0),
    ("experiment new --from nothing --environment lab --host lab-amd", 1),
    ("experiment new --from lab-demo --environment lab --host lab-amd -o {dir}/boots.csv", 1),
    ("experiment submit {dir}/arms.yml", 1),
    ("experiment submit {dir}/nothing.yml", 1),
    ("host reserve host-1 --until never --reason mine " + ON, 1),
    ("host set-aside nobody --reason broken", 1),
    ("job cancel 99", 1),
    ("kernel build --check {patches}", 0),
    ("kernel build --no-wait {patches}", 0),
    ("kernel build --no-wait --profile nothing", 1),
    ("series approve 1 v1 0000", 1),
    ("series approve 1", 1),
    ("series start 1 --no-wait", 1),
    ("series study 1 patch-cost --no-wait", 1),
    ("series start 1 --no-wait --all-cases", 1),
    ("regression confirm 9999", 1),
    ("regression file 9999 --host x --case 1 --arm a --metric m", 1),
    ("regression set 9999 --owner alice", 1),
    ("regression set 1 --state false", 1),
    ("subscription add series nothing --mail a@example.org", 1),
    ("subscription pause 9999", 1),
    ("subscription remove 9999", 1),
    ("subscription resume 9999", 1),
    ("trends accept 9999 known", 1),
    ("trends annotate 1 known", 0),
    ("trends annotate 9999 known", 1),
]
# In this order, since each sees what the one before left.
HOST_STEPS = [
    "reserve host-1 --until 2026-12-30 --reason mine",
    "release host-1",
    "release host-1",
    "set-aside host-1 --reason broken",
    "resume host-1",
    "resume host-1",
]
ANYWHERE_WORDS = [
    ("compare {dir}/boots.csv --baseline off", 0),
    ("cost --processor nobody", 1),
    ("kernel profiles", 0),
    ("openapi", 0),
    ("price list", 0),
    ("price measure", 1),
    ("price predict", 0),
    ("price rank", 0),
    ("snippet rank nothing.s nothing.s", 1),
    (f"profile fold {CASES / '02-one-letter-comm.perf.txt'}", 0),
    (f"profile show {CASES / '02-one-letter-comm.perf.txt'}", 0),
    ("report check {dir}/letter", 1),
]
LIMITS = """limits: ours
lines:
- {workload: syscall, metric: time_per_call, worse_by_percent: 1000}
"""
# What differs, and why.
DIFFERS = {
    "health": "of a service there is no disk to look at",
    "audit export": "it says the name of the file, of which there are two",
}
MOMENTS = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?Z?)?")


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory, module_engine: tuple[Engine, str]) -> Command:
    """The service's machine: a database with some of everything."""
    engine, url = module_engine
    home = tmp_path_factory.mktemp("service")
    for name, content in {
        "boots.csv": BOOTS, "letter": LETTER, "arms.yml": ARMS, "others.yml": OTHER_ARMS,
        "limits.yml": LIMITS,
    }.items():  # fmt: skip
        (home / name).write_text(content)
    weeks(engine, [1.0] * 8 + [1.1] * 8, size=Size(cases=2, arms=2, blocks=4, iterations=1))
    update(engine)
    with transaction(engine) as session:
        take_in(session)
    command = Command(home, url)
    announce(engine, "worker-1", jobs=list(Ability), hosts={"bench": ["host-1"]})
    execute(engine, "update worker set seen_at = now() + interval '1 day'")
    command.run("experiment", "import", DEMO)
    command.run("series", "add", SERIES)
    for arms in ("others.yml", "arms.yml"):
        command.run("bisect", "start", "--arms", home / arms, "--no-wait")
    command.run("bisect", "cancel", "2")
    command.run("kernel", "build", "--no-wait")
    return command


def execute(engine: Engine, statement: str) -> Any:
    with engine.begin() as connection:
        done = connection.execute(text(statement))
        return done.scalar() if done.returns_rows else None


@pytest.fixture(scope="module")
def names(command: Command, module_engine: tuple[Engine, str]) -> dict[str, Any]:
    """What stands in the words of commands."""
    engine = module_engine[0]
    return {
        "dir": command.home,
        "patches": PATCHES,
        "spec": SPEC,
        "demo": execute(engine, "select id from experiment where recorded_at is not null"),
        "over": execute(engine, "select min(id) from job where state = 'cancelled'"),
        "change": execute(engine, "select max(id) from trend_change"),
    }


@pytest.fixture(scope="module")
def address(command: Command) -> Iterator[str]:
    with served(command, free_port()) as address:
        yield address


@pytest.fixture(scope="module")
def token(command: Command) -> str:
    said = command.run("token", "create", "alice", "--role", "admin").stdout
    return said.splitlines()[0]


@pytest.fixture
def laptop(tmp_path: Path, address: str, token: str) -> Iterator[Laptop]:
    """A machine that has nothing, and has nothing afterwards."""
    home = tmp_path / "laptop"
    home.mkdir()
    home.chmod(0o500)
    yield Laptop(home, address, token)
    home.chmod(0o700)
    assert list(home.iterdir()) == []


@pytest.mark.parametrize(("words", "code"), READING)
def test_the_same_is_said_on_the_services_machine_and_over_the_api(
    command: Command, laptop: Laptop, names: dict[str, Any], words: str, code: int
) -> None:
    given = words.format(**names).split()
    forms = [given, [*given, "--json"]] if takes_json(words) else [given]
    for form in forms:
        here = command.run(*form, code=code)
        there = laptop.run(*form, code=code)
        assert there.stdout == here.stdout
        assert first_line(there.stderr) == first_line(here.stderr)


@pytest.mark.parametrize(("words", "code"), CHANGING)
def test_what_changes_something_does_the_same_over_the_api(
    command: Command, laptop: Laptop, names: dict[str, Any], words: str, code: int
) -> None:
    given = words.format(**names).split()
    here = command.run(*given, code=code)
    if words.startswith("bisect start") and code == 0:
        # The same one is begun once while it goes on.
        command.run("bisect", "cancel", str(command.json("bisect", "list")[0]["id"]))
    there = laptop.run(*given, code=code)
    if words.startswith("bisect start") and code == 0:
        command.run("bisect", "cancel", str(command.json("bisect", "list")[0]["id"]))
    assert masked(there.stdout) == masked(here.stdout)
    assert masked(first_line(there.stderr)) == masked(first_line(here.stderr))


def test_hosts_are_kept_and_given_back_over_the_api(command: Command, laptop: Laptop) -> None:
    said = []
    for caller in (command, laptop):
        for step in HOST_STEPS:
            words = ["host", *step.split(), "--environment", "bench"]
            said.append(masked(caller.run(*words).stdout))
    half = len(HOST_STEPS)
    assert said[half:] == said[:half]
    assert "is reserved until T" in said[0]
    assert "was not reserved" in said[2]
    on = ["host-1", "--environment", "bench"]
    shown = laptop.json("host", "reserve", *on, "--until", "8h", "--reason", "x")
    assert shown["reserved_by"] == "alice"
    command.run("host", "release", *on)


def test_a_change_is_accepted_and_a_job_and_experiment_are_cancelled_over_the_api(
    command: Command, laptop: Laptop, names: dict[str, Any]
) -> None:
    said = laptop.run("trends", "accept", str(names["change"]), "known").stdout
    assert f"change {names['change']} of trend" in said
    assert "alice: known" in command.run("trends", "show", trend_in(said)).stdout
    laptop.run("regression", "set", "1", "--owner", "alice", "--note", "mine")
    assert "alice: state new → assigned: mine" in command.run("regression", "show", "1").stdout
    number = laptop.json("experiment", "submit", SPEC)["id"]
    laptop.run("experiment", "cancel", str(number))
    assert command.json("experiment", "show", str(number))["state"] == "cancelled"
    job = laptop.json("kernel", "build", "--no-wait", "--label", "once", "--anew")["id"]
    assert laptop.run("job", "cancel", str(job)).stdout == f"job {job} is cancelled\n"
    assert command.json("job", "show", str(job))["cancelled_by"] == "alice"
    started = laptop.json("bisect", "start", "--arms", command.home / "arms.yml", "--no-wait")
    assert started["submitted_by"] == "alice"
    laptop.run("bisect", "cancel", str(started["id"]))
    assert command.json("bisect", "show", str(started["id"]))["state"] == "cancelled"


def test_the_audit_log_is_exported_line_by_line_alike(
    command: Command, laptop: Laptop, tmp_path: Path
) -> None:
    def export(caller: Command | Laptop, name: str) -> tuple[bytes, str]:
        file = tmp_path / name
        said = caller.run("audit", "export", "-o", file).stdout
        return file.read_bytes(), said.replace(str(file), "FILE")

    # Jobs that commands before asked for may end between both.
    for attempt in range(5):
        here, there = export(command, f"here{attempt}"), export(laptop, f"there{attempt}")
        if here == there:
            break
    assert here == there
    assert len(here[0].splitlines()) > 5


def test_health_is_the_services(laptop: Laptop) -> None:
    found = {each["what"]: each["sound"] for each in laptop.json("health")}
    assert found == {"server": True, "database": True}


@pytest.mark.parametrize(("words", "code"), ANYWHERE_WORDS)
def test_what_needs_no_service_works_with_one_given(
    command: Command, laptop: Laptop, words: str, code: int
) -> None:
    given = words.format(dir=command.home).split()
    assert laptop.run(*given, code=code).stdout == command.run(*given, code=code).stdout


# Words that a command needs before it can refuse.
NEEDS = {
    "bisect report": "1", "db backup": "x", "db restore": "x", "experiment export": "1 -o x",
    "experiment import": "x", "experiment judge": "1", "host add": "a --environment b",
    "host check": "a", "host restore": "a", "kernel import": "x", "kernel remove": "x",
    "matrix select": "x",
    "lab console": "a", "price estimate": "1 1",
    "price rates": "1 --claims a",
    "profile diff": "a b",
    "profile exact": "a b --experiment 1", "profile export": "a",
    "profile functions": "a --experiment 1", "profile import": f"{FOLDED} --tree web --group a",
    "profile instructions": "a b --experiment 1 --case 1", "report reply": "1", "series add": "x",
    "series ignore": "1", "series retest": "1", "series set": "1",
    "token create": "a --role viewer", "token revoke": "a", "try": "x",
    "bisect start --tree": ". --good a --bad b",
    "kernel build --profile": str(SPEC), "price measure --host": "a",
    "report weekly --send": "a@example.org",
    "series approve --request": "1", "health --worker": "", "health --api": "",
}  # fmt: skip
OPTIONS = [words for words in NEEDS if "--" in words]


@pytest.mark.parametrize("name", [*LOCAL, *OPTIONS])
def test_what_has_no_way_through_the_api_says_so_and_touches_nothing(
    laptop: Laptop, name: str
) -> None:
    done = laptop.run(*name.split(), *NEEDS.get(name, "").split(), code=1)
    said = " ".join(done.stderr.split())
    assert f"error: `mitigauge {name}" in said
    assert "works on the service's own machine alone; run it there" in said
    assert done.stdout == ""


def test_every_command_goes_to_a_service_or_says_why_not() -> None:
    every = {name for name, _ in leaves(typer.main.get_command(build()), ())}
    assert every == REMOTE | ANYWHERE | {*LOCAL}
    assert len(every) == len(REMOTE) + len(ANYWHERE) + len(LOCAL)
    assert all(LOCAL.values())


def test_every_command_over_the_api_is_compared_here() -> None:
    words = [*DIFFERS, *(each for each, _ in READING + CHANGING + ANYWHERE_WORDS)]
    words += [f"host {each}" for each in HOST_STEPS]
    left_out = [name for name in REMOTE | ANYWHERE if not any(name in begins(w) for w in words)]
    assert left_out == []


def begins(words: str) -> tuple[str, str]:
    """The one or two words that may name a command."""
    first, *more = words.split()
    return first, " ".join([first, *more[:1]])


@pytest.mark.long("two starts of the service and its follower's pauses")
def test_following_goes_on_after_a_restart_of_the_service(
    command: Command, token: str, tmp_path: Path
) -> None:
    port = free_port()
    with served(command, port) as address:
        laptop = Laptop(tmp_path / "laptop", address, token)
        number = str(laptop.json("experiment", "submit", SPEC)["id"])
        follower = laptop.begun("experiment", "wait", number)
        with ended(follower):
            assert "boots planned" in line_of(follower.stdout)
    with ended(follower):
        assert "asked again" in line_of(follower.stderr)
        with served(command, port):
            command.run("experiment", "cancel", number)
            out, err = follower.communicate(timeout=LIMIT_S)
    assert "the service answers again" in err
    assert "cancel" in out
    assert follower.returncode == 1
    assert not laptop.home.exists()


def test_ctrl_c_ends_the_following_alone(command: Command, laptop: Laptop) -> None:
    number = str(laptop.json("experiment", "submit", SPEC)["id"])
    follower = laptop.begun("experiment", "wait", number)
    with ended(follower):
        line_of(follower.stdout)
        follower.send_signal(signal.SIGINT)
        err = follower.communicate(timeout=LIMIT_S)[1]
    assert f"experiment {number} goes on" in err
    assert follower.returncode == 130
    assert command.json("experiment", "show", number)["state"] == "queued"
    laptop.run("experiment", "cancel", number)


def test_options_before_the_command_count_as_the_variables_do(
    command: Command, address: str, token: str, tmp_path: Path
) -> None:
    file = tmp_path / "token"
    file.write_text(f"{token}\n")
    expected = command.run("host", "list").stdout
    bare = Laptop(tmp_path / "laptop", "")
    given = bare.run("--server", address, "--token-file", file, "host", "list")
    assert (given.stdout, given.stderr) == (expected, "")
    by_file = Laptop(bare.home, address, more={"MITIGAUGE_TOKEN_FILE": str(file)})
    assert by_file.run("host", "list").stdout == expected
    # An empty one means this machine's own state, whatever the variable says.
    own = Laptop(bare.home, address, token, {"MITIGAUGE_DATABASE_URL": command.url})
    assert own.run("--server", "", "host", "list").stdout == expected
    missing = bare.run("--server", address, "--token-file", "/nothing", "host", "list", code=1)
    assert "error: --token-file, /nothing, cannot be read" in missing.stderr
    assert not (bare.home / "state" / "postgres").exists()


@pytest.mark.parametrize("token_given", ["", "mgt_" + 43 * "a"])
def test_without_a_valid_token_two_lines_say_how_to_get_one(
    laptop: Laptop, token_given: str
) -> None:
    done = Laptop(laptop.home, laptop.server, token_given).run("experiment", "list", code=1)
    assert done.stderr.startswith("error: ")
    assert "mitigauge token create NAME --role submitter" in " ".join(done.stderr.split())
    assert token_given == "" or token_given not in done.stderr
    assert "Traceback" not in done.stderr


@contextmanager
def ended(process: subprocess.Popen[str]) -> Iterator[None]:
    """Whatever fails meanwhile, the process does not go on."""
    try:
        yield
    except BaseException:
        process.kill()
        process.communicate()
        raise


def line_of(stream: IO[str] | None) -> str:
    assert stream is not None
    return stream.readline()


def takes_json(words: str) -> bool:
    found = dict(leaves(typer.main.get_command(build()), ()))
    name = next(name for name in found if f"{words} ".startswith(f"{name} "))
    return "json" in {parameter.name for parameter in found[name].params}


def leaves(command: Any, above: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """The whole name of each command, with the command; of `worker`, what it does alone too."""
    if not hasattr(command, "commands"):
        yield " ".join(above), command
        return
    if command.invoke_without_command and above:
        yield " ".join(above), command
    for name in command.commands:
        yield from leaves(command.get_command(None, name), (*above, name))


def first_line(stderr: str) -> str:
    return next((line for line in stderr.splitlines() if line.startswith("error:")), "")


def masked(said: str) -> str:
    """Without moments, numbers, and who did it."""
    plain = re.sub(r"\d+", "N", MOMENTS.sub("T", said))
    return plain.replace("alice's", "operator's")


def trend_in(said: str) -> str:
    found = re.search(r"of trend (\d+)", said)
    assert found
    return found[1]
