"""A database beyond this machine: whom a URL that asks for proof believes, and whom not."""

from __future__ import annotations

import os
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from mitigauge.core.errors import NotReady
from mitigauge.core.settings import REPOSITORY, get_settings, settings_from
from mitigauge.storage.database import embedded_server as server
from mitigauge.storage.database.direct import direct_connection
from mitigauge.storage.database.engine import database_url, new_engine, require_head
from tests.lab.certificates import Authority, Issued

PASSWORD = "p@ss:w/rd#%? ü'\"\\$"
VERIFIED = "sslmode=verify-full&sslrootcert={ca}"


@dataclass
class Server:
    """A real PostgreSQL with a password, and before it TLS, which its build here lacks."""

    path: str

    @contextmanager
    def shows(self, issued: Issued) -> Iterator[str]:
        """The URL, without a query, of what answers with that certificate."""
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(issued.certificate, issued.key)
        with socket.create_server(("127.0.0.1", 0)) as listener:
            threading.Thread(target=self._serve, args=(listener, tls), daemon=True).start()
            yield f"postgresql://member@127.0.0.1:{listener.getsockname()[1]}/mitigauge"
            # Wakes the thread that waits for the next one.
            listener.shutdown(socket.SHUT_RDWR)

    def _serve(self, listener: socket.socket, tls: ssl.SSLContext) -> None:
        with suppress(OSError):
            while True:
                met, _ = listener.accept()
                threading.Thread(target=self._meet, args=(met, tls), daemon=True).start()

    def _meet(self, met: socket.socket, tls: ssl.SSLContext) -> None:
        with suppress(OSError), met:
            # "May I speak TLS?", which is all that is said before it.
            if met.recv(8, socket.MSG_WAITALL) != bytes.fromhex("0000000804d2162f"):
                return
            met.sendall(b"S")
            with (
                tls.wrap_socket(met, server_side=True) as client,
                socket.socket(socket.AF_UNIX) as behind,
            ):
                behind.connect(self.path)
                back = threading.Thread(target=carry, args=(behind, client), daemon=True)
                back.start()
                carry(client, behind)
                behind.shutdown(socket.SHUT_WR)
                back.join(10)


def carry(source: socket.socket, target: socket.socket) -> None:
    """Hand on what comes, until no more does."""
    with suppress(OSError):
        while piece := source.recv(65536):
            target.sendall(piece)


@pytest.fixture(scope="module")
def postgres() -> Iterator[Server]:
    with tempfile.TemporaryDirectory(prefix="mgpg-") as directory:
        home = Path(directory)
        address = server.ensure_running(home)
        with psycopg.connect(address, autocommit=True) as connection:
            statement = psycopg.sql.SQL("create role member login superuser password {}")
            connection.execute(statement.format(PASSWORD))
        rules = home / "postgres" / "data" / "pg_hba.conf"
        rules.write_text("local all member scram-sha-256\nlocal all all trust\n")
        where = conninfo_to_dict(server.restart_immediately(home))
        yield Server(f"{where['host']}/.s.PGSQL.{where['port']}")
        server.stop(home, mode="immediate")


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path / "ours")


Asked = Callable[[str], None]


@pytest.fixture
def asked(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Asked]:
    """Asks the database at a URL, by both ways that the service has. Raises NotReady."""

    def ask(url: str) -> None:
        said = {"MITIGAUGE_DATABASE_URL": url, "MITIGAUGE_DATABASE_PASSWORD": PASSWORD}
        engine = new_engine(database_url(settings_from(said)), pooled=False)
        for name, value in said.items():
            monkeypatch.setenv(name, value)
        get_settings.cache_clear()
        refused = []
        for way in (lambda: require_head(engine), lambda: direct_connection().__enter__()):
            with pytest.raises(NotReady) as each:
                way()
            refused.append(each.value.message)
        # Where they are let in, they find a database without our schema.
        if not all("schema" in message for message in refused):
            raise NotReady("; ".join(refused))

    yield ask
    get_settings.cache_clear()


def test_the_certificate_of_the_named_authority_is_believed(
    postgres: Server, authority: Authority, asked: Asked
) -> None:
    with postgres.shows(authority.issue("127.0.0.1")) as url:
        asked(f"{url}?{VERIFIED.format(ca=authority.ca_file)}")


def test_another_certificate_is_not_and_gets_no_password(
    postgres: Server, authority: Authority, asked: Asked, tmp_path: Path
) -> None:
    query = VERIFIED.format(ca=authority.ca_file)
    for issued, why in (
        (Authority(tmp_path / "other").issue("127.0.0.1"), "certificate verify failed"),
        (authority.issue("database.example.org"), "does not match host name"),
    ):
        with (
            postgres.shows(issued) as url,
            pytest.raises(NotReady, match=f"{why}.*; .*{why}"),
        ):
            asked(f"{url}?{query}")


def test_an_authority_that_is_not_there_is_named(
    postgres: Server, authority: Authority, asked: Asked, tmp_path: Path
) -> None:
    query = VERIFIED.format(ca=tmp_path / "missing.pem")
    with (
        postgres.shows(authority.issue("127.0.0.1")) as url,
        pytest.raises(NotReady, match=r"root certificate file .*missing\.pem.* does not exist"),
    ):
        asked(f"{url}?{query}")


def test_a_command_says_it_without_the_password(
    postgres: Server, authority: Authority, tmp_path: Path, home: Path
) -> None:
    query = VERIFIED.format(ca=authority.ca_file)
    with postgres.shows(Authority(tmp_path / "other").issue("127.0.0.1")) as url:
        said = {"DATABASE_URL": f"{url}?{query}", "DATABASE_PASSWORD": PASSWORD}
        done = subprocess.run(
            [sys.executable, "-m", "cli.main", "experiment", "list"], cwd=REPOSITORY,
            env=os.environ | {f"MITIGAUGE_{name}": value for name, value in said.items()},
            capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip
    assert done.returncode == 1
    assert "certificate verify failed" in done.stderr
    assert "Traceback" not in done.stderr
    assert PASSWORD not in done.stdout + done.stderr


def test_a_wrong_password_is_said_without_it(
    postgres: Server, authority: Authority, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with postgres.shows(authority.issue("127.0.0.1")) as url:
        settings = settings_from(
            {"MITIGAUGE_DATABASE_URL": url, "MITIGAUGE_DATABASE_PASSWORD": "hunter2"}
        )
        with pytest.raises(NotReady, match="password authentication failed") as refused:
            require_head(new_engine(database_url(settings), pooled=False))
    assert "hunter2" not in str(refused.value)


def test_who_asks_for_no_proof_believes_anything(
    postgres: Server, authority: Authority, asked: Asked, tmp_path: Path
) -> None:
    """Why docs/operating.md has `sslmode=verify-full` for a database elsewhere."""
    with postgres.shows(Authority(tmp_path / "other").issue("database.example.org")) as url:
        asked(url)
        asked(f"{url}?sslmode=require")
