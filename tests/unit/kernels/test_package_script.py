"""The script that makes a kernel's package, run whole on a small ELF file in place of a kernel."""

from __future__ import annotations

import gzip
import os
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from mitigauge.core.settings import REPOSITORY
from pipelines.built_files import SHA256_OF_NOTHING, content_digest
from pipelines.kernel_order import BuildFailed

SCRIPTS = REPOSITORY / "pipelines" / "kernel_scripts"
RELEASE = "7.2.12-mg" + "0" * 32
TOOLS = ("objcopy", "objdump", "readelf", "perl", "dpkg-deb")
needs_tools = pytest.mark.skipif(
    not all(map(shutil.which, TOOLS)), reason=f"needs {', '.join(TOOLS)}"
)
# An ELF file with a build id that every machine has.
ELF = Path(shutil.which("true") or "/bin/true").resolve()


def image_of(vmlinux: bytes) -> bytes:
    """A bzImage that holds *vmlinux*, by the fields that its set-up names."""
    payload = gzip.compress(vmlinux, mtime=0)
    setup = bytearray(1024)
    setup[0x1F1] = 1
    setup[0x202:0x206] = b"HdrS"
    struct.pack_into("<II", setup, 0x248, 0, len(payload))
    return bytes(setup) + payload


@pytest.fixture
def build(tmp_path: Path) -> Path:
    """What a compiler would have left, below a folder that stands for /build."""
    out, source = tmp_path / "out", tmp_path / "source"
    boot = out / "arch/x86/boot"
    (boot / "compressed").mkdir(parents=True)
    (out / "drivers/firmware/efi/libstub").mkdir(parents=True)
    shutil.copy(ELF, out / "vmlinux")
    image = image_of((out / "vmlinux").read_bytes())
    (boot / "bzImage").write_bytes(image)
    (boot / "setup.bin").write_bytes(image[:1024])
    for name in ("main.o", "header.o", "compressed/misc.o"):
        shutil.copy(ELF, boot / name)
    for name in ("System.map", ".config", "modules.builtin", "modules.builtin.modinfo"):
        (out / name).write_text("x\n")
    (source / "arch/x86/boot").mkdir(parents=True)
    (source / "Makefile").write_text("all:\n")
    (source / "arch/x86/boot/header.S").write_text("# begins\n")
    (tmp_path / "package").mkdir()
    shutil.copytree(SCRIPTS, tmp_path / "scripts")
    return tmp_path


def package(build: Path, **tools: str) -> tuple[int, str]:
    """Run the script; *tools*: programs that stand before the machine's own."""
    script = build / "package-here"
    for name in ("package", "scripts/blank"):
        text = (SCRIPTS / Path(name).name).read_text()
        place = script if name == "package" else build / name
        place.write_text(text.replace("/build/", f"{build}/"))
    others = build / "tools"
    others.mkdir(exist_ok=True)
    for name, body in tools.items():
        (others / name).write_text(f"#!/bin/sh\n{body}\n")
        (others / name).chmod(0o755)
    done = subprocess.run(
        ["bash", str(script)],
        env={"PATH": f"{others}:{os.environ['PATH']}", "RELEASE": RELEASE, "LC_ALL": "C"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def digest(build: Path) -> str:
    """Package it; the digest of what boots."""
    status, said = package(build)
    assert status == 0, said
    return content_digest((build / "package" / "content").read_bytes())


@needs_tools
def test_a_package_lists_what_boots_part_by_part(build: Path) -> None:
    digest(build)
    content = (build / "package" / "content").read_text()
    parts = [line.split(" ", 1)[1] for line in content.splitlines()]
    assert parts == [
        "vmlinux", "setup", "arch/x86/boot/compressed/misc.o", "arch/x86/boot/main.o", "machinery"
    ]  # fmt: skip
    assert (build / "package" / "kernel.deb").stat().st_size > 1000
    assert len((build / "package" / "build-id").read_text().strip()) == 40


@needs_tools
@pytest.mark.parametrize("tool", ["objcopy", "sha256sum", "sed", "perl", "xargs", "sort", "gzip"])
def test_a_tool_that_fails_fails_the_package(build: Path, tool: str) -> None:
    """As with a disk that is full: the digest of nothing made two kernels the same."""
    status, _ = package(build, **{tool: "exit 1"})
    assert status != 0


@needs_tools
def test_a_digest_of_nothing_is_not_even_written(build: Path) -> None:
    """Only the first part of the pipe fails: what comes after it succeeds."""
    sed = shutil.which("sed")
    status, _ = package(build, sed=f'case "$1" in s/*) exit 1;; *) exec {sed} "$@";; esac')
    assert status != 0
    assert SHA256_OF_NOTHING not in (build / "package" / "content").read_text()


@needs_tools
@pytest.mark.parametrize(
    ("file", "changed"),
    [
        ("out/arch/x86/boot/compressed/misc.o", True),
        ("out/arch/x86/boot/setup.bin", True),
        ("source/arch/x86/boot/header.S", True),
        ("source/Makefile", True),
        ("source/arch/x86/boot/main.c", False),
    ],
)
def test_the_digest_covers_what_boots(build: Path, file: str, changed: bool) -> None:
    before = digest(build)
    path = build / file
    if file.endswith(".bin"):
        path.write_bytes(path.read_bytes()[:-1] + b"\1")
    elif file.endswith(".o"):
        shutil.copy(shutil.which("false") or "/bin/false", path)
    else:
        path.write_text("# another comment\n")
    assert (digest(build) != before) is changed


@needs_tools
def test_how_well_the_image_was_packed_changes_no_digest(build: Path) -> None:
    before = digest(build)
    setup = build / "out/arch/x86/boot/setup.bin"
    fields = bytearray(setup.read_bytes())
    for at, size in ((0x1F4, 4), (0x248, 8), (0x260, 12)):
        fields[at : at + size] = b"\xaa" * size
    setup.write_bytes(bytes(fields))
    assert digest(build) == before


@needs_tools
def test_an_image_of_another_vmlinux_is_refused(build: Path) -> None:
    other = Path(shutil.which("false") or "/bin/false").resolve().read_bytes()
    (build / "out/arch/x86/boot/bzImage").write_bytes(image_of(other))
    status, said = package(build)
    assert status != 0
    assert "the image does not hold the vmlinux beside it" in said


GOOD = "".join(f"{'ab' * 32} {name}\n" for name in ("vmlinux", "setup", "machinery"))


@pytest.mark.parametrize(
    ("content", "wrong"),
    [
        ("", "machinery, setup, vmlinux"),
        (GOOD.replace("vmlinux", "vmlinus"), "vmlinux"),
        (GOOD.replace("ab" * 32, SHA256_OF_NOTHING), "vmlinux, setup, machinery"),
        (GOOD.replace(f"{'ab' * 32} setup", " setup"), "setup"),
        (GOOD + f"{'cd' * 32} setup\n", "a part that is there twice"),
    ],
)
def test_a_list_that_is_not_whole_makes_no_kernels_the_same(content: str, wrong: str) -> None:
    with pytest.raises(BuildFailed, match=f"not whole: {wrong}"):
        content_digest(content.encode())
    assert len(content_digest(GOOD.encode())) == 64


def put_image(build: Path) -> None:
    """Make the image of the kernel that is there."""
    image = image_of((build / "out/vmlinux").read_bytes())
    (build / "out/arch/x86/boot/bzImage").write_bytes(image)
    (build / "out/arch/x86/boot/setup.bin").write_bytes(image[:1024])


def warning_at(build: Path, line: int, *, flags: int = 1, words: str = "") -> None:
    """Put a kernel with two places that warn in place of the one that is there."""
    entry = f".long {{0}} - .\n{words}.long text - .\n.word {line}\n.word {flags}\n"
    source = build / "warns.S"
    source.write_text(
        ".text\n.globl _start\n_start: ud2\nsecond: ud2\n.section .rodata\ntext: .asciz \"a.c\"\n"
        f'.section __bug_table,"aw"\n{entry.format("_start")}{entry.format("second")}'
    )  # fmt: skip
    vmlinux = build / "out" / "vmlinux"
    subprocess.run(
        ["gcc", "-nostdlib", "-static", "-Wl,--build-id", source, "-o", vmlinux], check=True
    )
    put_image(build)
    (build / "out/.config").write_text("CONFIG_DEBUG_BUGVERBOSE=y\n")


@needs_tools
@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
@pytest.mark.parametrize("words", ["", ".long text - .\n"], ids=["without", "with a format"])
def test_the_line_of_a_warning_is_no_code_and_its_kind_is(build: Path, words: str) -> None:
    digests = []
    for line, flags in ((1, 1), (7, 1), (1, 3)):
        warning_at(build, line, flags=flags, words=words)
        digests.append(digest(build))
    assert digests[0] == digests[1] != digests[2]


@needs_tools
@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_a_table_of_another_form_is_taken_as_it_is(build: Path) -> None:
    digests = []
    for line in (1, 7):
        warning_at(build, line, words=".long 0\n.long 0\n")
        digests.append(digest(build))
    assert digests[0] != digests[1]


def names_of(build: Path, text: str, *, more: str = "", other: str = "") -> None:
    """Put a kernel with its own list of two names in place of the one there; *text*: 8 letters.

    *more*: assembly behind the list. *other*: the same of another file.
    """
    source = build / "names.S"
    source.write_text(
        ".text\n.globl _start\n_start: ret\n.section .rodata\n"
        "kallsyms_num_syms: .long 2\n"
        f'kallsyms_names: .ascii "{text}"\nkallsyms_markers: .ascii "{text}"\n'
        f'kallsyms_token_table: .ascii "{text}"\n'
        f'kallsyms_token_index: .ascii "{text}"\n.skip 504\n'
        f'kallsyms_offsets: .quad 0\nkallsyms_seqs_of_names: .ascii "{text[-6:]}"\n{more}'
    )
    beside = build / "beside.S"
    beside.write_text(f".section .rodata\n{other}")
    vmlinux = build / "out" / "vmlinux"
    options = ["-nostdlib", "-static", "-Wl,--build-id"]
    subprocess.run(["gcc", *options, source, beside, "-o", vmlinux], check=True)
    put_image(build)


@needs_tools
@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_the_kernel_s_list_of_names_is_no_code_and_what_lies_behind_it_is(build: Path) -> None:
    digests = []
    for text, more in (("pipe__16", "one"), ("pipe__17", "one"), ("pipe__16", "two")):
        names_of(build, text, more=f'.ascii "{more}"\n')
        digests.append(digest(build))
    assert digests[0] == digests[1] != digests[2]


@needs_tools
@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
@pytest.mark.parametrize(
    ("more", "other"),
    [("", "kallsyms_names: .quad 1\n"), ("within = kallsyms_names + 2\n", "")],
    ids=["a second table of that name", "an object within"],
)
def test_a_list_of_names_that_is_not_the_kernel_s_own_is_taken_as_it_is(
    build: Path, more: str, other: str
) -> None:
    digests = []
    for text in ("pipe__16", "pipe__17"):
        names_of(build, text, more=more, other=other)
        digests.append(digest(build))
    assert digests[0] != digests[1]


@needs_tools
@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_a_table_of_one_of_the_list_s_names_hides_nothing(build: Path) -> None:
    digests = []
    for own in ("one", "two"):
        hides = f'kallsyms_token_index: .ascii "{own}"\n.skip 600\n'
        names_of(build, "pipe__16", other=hides)
        digests.append(digest(build))
    assert digests[0] != digests[1]


@needs_tools
def test_where_a_32_bit_firmware_begins_is_a_place_and_what_stands_beside_it_is_not(
    build: Path,
) -> None:
    entry = b"\x01\x08\x4c\x01"
    digests = []
    for place, behind in ((b"aaaa", b"b"), (b"cccc", b"b"), (b"aaaa", b"d")):
        setup = build / "out/arch/x86/boot/setup.bin"
        first = setup.read_bytes()[:1024].ljust(4096, b"\0")
        setup.write_bytes(first + entry + place + behind)
        digests.append(digest(build))
    assert digests[0] == digests[1] != digests[2]
