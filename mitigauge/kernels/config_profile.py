"""Config profiles: files of ``profiles/``, each a fragment over the kernel's own default."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from mitigauge.errors import InvalidInput, NotFound

DIRECTORY = Path(__file__).parent / "profiles"
LARGEST_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Profile:
    """A fragment of a configuration; *whole*: a configuration that needs no default below it."""

    name: str
    text: str
    whole: bool = False

    @property
    def sha256(self) -> str:
        """Of its text."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def known_profiles() -> list[str]:
    """Names of the profiles that come with us."""
    return sorted(file.stem for file in DIRECTORY.glob("*.config"))


def profile_of(name: str) -> Profile:
    """The profile of that name, or the configuration in the file of that path.

    Raises NotFound naming those there are, InvalidInput for a file that is no configuration.
    """
    if name in known_profiles():
        return Profile(name, (DIRECTORY / f"{name}.config").read_text("utf-8"))
    file = Path(name)
    if "/" not in name or not file.is_file():
        raise NotFound(
            f"no config profile {name!r}",
            hint=f"Known: {', '.join(known_profiles())}; or the path of a kernel's .config.",
        )
    if file.stat().st_size > LARGEST_BYTES:
        raise InvalidInput(f"{name} is larger than 1 MiB", hint="Give a kernel's .config.")
    text = file.read_text("utf-8", errors="replace")
    if not any(line.startswith("CONFIG_") for line in text.splitlines()):
        raise InvalidInput(f"{name} sets nothing", hint="Give a kernel's .config.")
    return Profile(file.name, text, whole=True)
