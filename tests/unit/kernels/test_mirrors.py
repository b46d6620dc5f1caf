"""A mirror whose packages are not signed by Debian makes no build root."""

from __future__ import annotations

import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from mitigauge.core.apt_sources import KEYRING, Mirror
from mitigauge.core.errors import MitigaugeError
from pipelines.adapters import build_root

TOOLS = ("mmdebstrap", "bwrap", "gpg")
pytestmark = pytest.mark.skipif(
    not all(map(shutil.which, TOOLS)) or not KEYRING.exists(), reason=f"needs {', '.join(TOOLS)}"
)
RELEASE = """Origin: Debian
Label: Debian
Suite: {suite}
Codename: {suite}
Date: Sat, 03 Jan 2026 10:00:00 UTC
Architectures: amd64
Components: main
"""


class Quiet(SimpleHTTPRequestHandler):
    """Files of a directory."""

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """What the machine's mirror has; nothing in it is signed."""
    root = tmp_path / "archive"
    for name in (build_root.SUITE, f"{build_root.SUITE}-updates", f"{build_root.SUITE}-backports"):
        suite = root / "dists" / name
        (suite / "main" / "binary-amd64").mkdir(parents=True)
        (suite / "main" / "binary-amd64" / "Packages").write_text("")
        (suite / "Release").write_text(RELEASE.format(suite=name))
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(root))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        mirror = Mirror(f"http://127.0.0.1:{server.server_address[1]}", None)
        monkeypatch.setattr(build_root, "find_mirror", lambda: mirror)
        # A proxy of the machine's apt would be asked for its own loopback.
        monkeypatch.setattr(build_root, "inherited_apt_options", list)
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        try:
            yield root
        finally:
            server.shutdown()
            thread.join()


def sign(archive: Path, home: Path) -> None:
    """Sign it by a key of nobody's."""
    home.mkdir(mode=0o700)
    gpg = ["gpg", "--batch", "--quiet", "--homedir", str(home)]
    make = ["--passphrase", "", "--quick-generate-key", "mirror@example.org", "ed25519", "sign"]
    subprocess.run([*gpg, *make], check=True, capture_output=True)
    for release in archive.glob("dists/*/Release"):
        output = ["--output", str(release.with_name("InRelease"))]
        subprocess.run([*gpg, *output, "--clearsign", str(release)], check=True)
    subprocess.run(["gpgconf", "--homedir", str(home), "--kill", "all"], check=False)


@pytest.mark.parametrize("kind", ["unsigned", "another key"])
def test_a_mirror_that_debian_did_not_sign_is_refused(
    archive: Path, tmp_path: Path, kind: str
) -> None:
    if kind == "another key":
        # Short: its agent's socket lies in it.
        sign(archive, tmp_path / "g")
    with pytest.raises(MitigaugeError, match="the build root cannot be made") as refused:
        build_root.build_root(tmp_path / "root", (), lambda _: None)
    expected = "is not signed" if kind == "unsigned" else r"NO_PUBKEY|[Mm]issing key|not signed"
    assert re.search(expected, refused.value.message), refused.value.message
    assert not (tmp_path / "root" / "root").exists()
