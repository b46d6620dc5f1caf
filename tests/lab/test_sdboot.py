"""A server without GRUB: README's "On hosts of yours" on btrfs, dracut and systemd-boot."""

from __future__ import annotations

import pytest

from tests.lab.servers import follow_readme, server, settled_reader

pytestmark = pytest.mark.lab


def test_readme_leads_to_a_verdict_without_grub_and_back() -> None:
    with server("lab-sdboot") as host, settled_reader(host) as reader:
        follow_readme(reader)
