"""A kernel's package that was built elsewhere: what it holds, and what it may cost to look."""

from __future__ import annotations

import lzma
import zlib
from pathlib import Path
from typing import Any

import pytest
import zstandard

from mitigauge.core.errors import InvalidInput, NotFound
from mitigauge.core.settings import get_settings
from mitigauge.kernels import package as packages
from mitigauge.storage.files.blobs import BlobStore, blob_store
from pipelines.kernel_import import read_package
from tests.measuring import measure
from tests.packages_made import BUILD_ID, RELEASE, elf, image, package, packed

VMLINUZ = f"./boot/vmlinuz-{RELEASE}"
MOST_BYTES = 450 << 20
ZEROS = bytes(1 << 20)
FAR = 900 << 20


@pytest.fixture
def blobs(home: Path) -> BlobStore:
    return blob_store(get_settings())


def bomb(kind: str) -> bytes:
    """An ELF file of 1,000 MiB of zeros whose notes lie far behind, packed; made in pieces."""
    packers: dict[str, Any] = {
        "gzip": lambda: zlib.compressobj(1, wbits=31),
        "xz": lambda: lzma.LZMACompressor(check=lzma.CHECK_CRC32, preset=0),
        "zstd": lambda: zstandard.ZstdCompressor(level=3).compressobj(),
    }
    packer = packers[kind]()
    near = (4096).to_bytes(8, "little")
    head = elf()[:4096].replace(near, FAR.to_bytes(8, "little"), 1)
    return b"".join(
        [packer.compress(head), *(packer.compress(ZEROS) for _ in range(1000)), packer.flush()]
    )


@pytest.mark.parametrize("kind", ["gzip", "xz", "zstd"])
@pytest.mark.parametrize("notes_at", [128, 4096, 70_000, 5 << 20])
def test_a_package_tells_its_release_and_build_id(
    tmp_path: Path, blobs: BlobStore, kind: str, notes_at: int
) -> None:
    content = image(packed(elf(notes_at=notes_at), kind))
    files = {"./usr/share/doc/x": b"no image", VMLINUZ: content}
    path = package(tmp_path / "linux-image.deb", files)
    built = read_package(path, blobs)
    assert (built.release, built.build_id) == (RELEASE, BUILD_ID.hex())
    assert blobs.read(built.package_sha256) == path.read_bytes()


def refusal(path: Path) -> str:
    with pytest.raises(InvalidInput) as refused:
        read_package(path, blob_store(get_settings()))
    return str(refused.value)


@pytest.mark.measured
@pytest.mark.parametrize("kind", ["gzip", "xz", "zstd"])
def test_an_image_that_unpacks_to_a_gigabyte_needs_little_memory(
    tmp_path: Path, home: Path, kind: str
) -> None:
    path = package(tmp_path / "x.deb", {VMLINUZ: image(bomb(kind))})
    assert path.stat().st_size < 1 << 20
    taken = measure(refusal, path)
    assert "has no build id" in taken.answer
    assert taken.started_bytes < MOST_BYTES
    assert taken.processor_s < 60


def test_a_package_that_unpacks_without_end_is_ended(
    tmp_path: Path, blobs: BlobStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packages, "SECONDS", 1.0)
    packer = lzma.LZMACompressor(preset=0)
    size = 1 << 39
    head = bytearray(512)
    head[:6] = b"./big\0"
    head[100:108], head[124:136], head[156:157] = b"0000644\0", b"%011o " % size, b"0"
    head[257:265] = b"ustar\x0000"
    head[148:156] = b"        "
    head[148:156] = b"%06o\0 " % sum(head)
    data = packer.compress(bytes(head)) + b"".join(packer.compress(ZEROS) for _ in range(400))
    path = package(tmp_path / "x.deb", {}, data=data + packer.flush())
    with pytest.raises(InvalidInput, match=r"x\.deb"):
        read_package(path, blobs)


OTHERS = {
    "nothing": (b"", "is no Debian package"),
    "text": (b"arm,block,value\n", "is no Debian package"),
    "an archive": (b"!<arch>\n" + b"x" * 500, "is no Debian package"),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_another_file_is_refused(tmp_path: Path, blobs: BlobStore, kind: str) -> None:
    content, said = OTHERS[kind]
    path = tmp_path / "x.deb"
    path.write_bytes(content)
    with pytest.raises(InvalidInput, match=said):
        read_package(path, blobs)
    with pytest.raises(NotFound):
        read_package(tmp_path / "y.deb", blobs)


IMAGES = {
    "none": (b"x" * 5000, "no x86 kernel image"),
    "another packing": (image(b"BZh91AY" * 99), "packed in a way that is not known"),
    "no elf": (image(packed(b"text" * 99, "gzip")), "no 64-bit ELF file"),
    "damaged": (image(packed(elf(), "gzip")[:40]), "cannot be unpacked"),
    "damaged xz": (image(packed(elf(), "xz")[:40] + b"x" * 90), "cannot be unpacked|no 64-bit"),
    "notes beyond its end": (image(packed(elf()[:4096], "xz")), "no build id|cut off"),
    "tables nowhere": (image(packed(elf(table_at=1 << 20, notes_at=2 << 20), "xz")), "no notes"),
}


@pytest.mark.parametrize("kind", IMAGES)
def test_another_image_is_refused(tmp_path: Path, blobs: BlobStore, kind: str) -> None:
    content, said = IMAGES[kind]
    path = package(tmp_path / "x.deb", {VMLINUZ: content})
    with pytest.raises(InvalidInput, match=said):
        read_package(path, blobs)
    with pytest.raises(InvalidInput, match="has no /boot/vmlinuz-RELEASE"):
        read_package(package(tmp_path / "z.deb", {"./boot/vmlinuz": content}), blobs)


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"[]",
        b'{"release": "6.1"}',
        b'{"release": "../6.1", "build_id": "00"}',
        b'{"release": "6.1", "build_id": "zz"}',
    ],
)
def test_an_answer_of_a_process_that_was_taken_over_is_refused(
    tmp_path: Path, blobs: BlobStore, monkeypatch: pytest.MonkeyPatch, answer: bytes
) -> None:
    monkeypatch.setattr(packages, "run_confined", lambda *_, **__: answer)
    path = package(tmp_path / "x.deb", {})
    with pytest.raises(InvalidInput, match=r"cannot be looked into|release or build id is none"):
        read_package(path, blobs)
