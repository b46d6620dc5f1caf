"""The lab reads its Debian mirror from whatever form of apt sources the machine has."""

from __future__ import annotations

from pathlib import Path

from mitigauge.core.apt_sources import Mirror, Source, find_mirror, parse_deb822, parse_one_line

DEB822 = """\
# A comment
Types: deb deb-src
URIs: http://mirror.example/debian/
Suites: trixie
 trixie-updates
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://mirror.example/debian-security
Suites: trixie-security
Components: main contrib
"""


def write(apt: Path, name: str, text: str) -> None:
    (apt / "sources.list.d").mkdir(parents=True, exist_ok=True)
    (apt / name).write_text(text)


def test_one_line_sources_with_options_and_comments() -> None:
    text = (
        "# deb http://off.example/debian trixie main\n"
        "deb-src http://mirror.example/debian trixie main\n"
        "deb [arch=amd64 signed-by=/k.gpg] http://mirror.example/debian trixie main contrib # c\n"
    )

    assert list(parse_one_line(text)) == [
        Source("http://mirror.example/debian", "trixie", ("main", "contrib"))
    ]


def test_a_deb822_stanza_gives_one_source_for_each_suite() -> None:
    sources = list(parse_deb822(DEB822))

    assert [(source.uri, source.suite) for source in sources] == [
        ("http://mirror.example/debian/", "trixie"),
        ("http://mirror.example/debian/", "trixie-updates"),
        ("http://mirror.example/debian-security", "trixie-security"),
    ]
    assert sources[-1].components == ("main", "contrib")


def test_disabled_and_source_only_stanzas_do_not_count() -> None:
    off = "Enabled: no\nTypes: deb\nURIs: http://a.example/debian\nSuites: s\nComponents: main\n"
    source_only = "Types: deb-src\nURIs: http://a.example/debian\nSuites: s\nComponents: main\n"

    assert list(parse_deb822(f"{off}\n{source_only}")) == []


def test_the_machines_mirror_is_found_among_foreign_archives(tmp_path: Path) -> None:
    write(tmp_path, "sources.list.d/a-tool.list", "deb https://tool.example/apt stable main\n")
    write(tmp_path, "sources.list.d/debian.sources", DEB822)

    assert find_mirror(tmp_path) == Mirror(
        "http://mirror.example/debian", "http://mirror.example/debian-security"
    )


def test_a_mirror_list_file_is_followed(tmp_path: Path) -> None:
    listed = tmp_path / "mirrors" / "debian.list"
    listed.parent.mkdir()
    listed.write_text("# ours\nhttps://cloud.example/debian\tpriority:1\n")
    # As in Debian's cloud images, whose file addresses end in .list, not in /debian.
    write(tmp_path, "sources.list", f"deb mirror+file:{listed} trixie main\n")

    assert find_mirror(tmp_path) == Mirror("https://cloud.example/debian", None)


def test_a_machine_without_debian_sources_has_no_mirror(tmp_path: Path) -> None:
    write(tmp_path, "sources.list", "deb cdrom:[Debian]/ trixie main\n")

    assert find_mirror(tmp_path) is None


def test_the_images_sources_carry_backports_and_the_archive_key() -> None:
    lines = Mirror("http://m.example/debian", "http://m.example/debian-security").lines("trixie")

    assert [line.split()[-2] for line in lines] == [
        "trixie",
        "trixie-updates",
        "trixie-backports",
        "trixie-security",
    ]
    assert all("debian-archive-keyring" in line for line in lines)
