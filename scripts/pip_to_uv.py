"""Shell assignments that give uv the package index pip is configured for.

Reads ``pip config list`` on standard input. What is already set for uv itself, in its
environment or its configuration file, stays as it is.
"""

from __future__ import annotations

import ast
import os
import re
import shlex
import sys
from pathlib import Path

# pip's option: (uv's variable, further variables of uv that decide the same)
OPTIONS = {
    "index-url": ("UV_DEFAULT_INDEX", ("UV_INDEX_URL",)),
    "extra-index-url": ("UV_INDEX", ("UV_EXTRA_INDEX_URL",)),
    "find-links": ("UV_FIND_LINKS", ()),
    "trusted-host": ("UV_INSECURE_HOST", ()),
    "cert": ("SSL_CERT_FILE", ()),
}
# find-links is a list of places, which uv wants separated by commas.
COMMAS = {"UV_FIND_LINKS"}
LINE = re.compile(r"^(?:global|install|user|site|:env:)\.(?P<option>[a-z-]+)=(?P<value>.+)$")


def has_configuration_file() -> bool:
    """Whether uv has been configured on its own."""
    config = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    named = os.environ.get("UV_CONFIG_FILE", "")
    files = [config / "uv" / "uv.toml", Path("/etc/uv/uv.toml")]
    return bool(named) or any(file.is_file() for file in files)


def assignments(lines: list[str]) -> dict[str, str]:
    """uv's variables for pip's settings; later lines win, as they do for pip."""
    found: dict[str, str] = {}
    own_file = has_configuration_file()
    for line in lines:
        match = LINE.match(line.strip())
        if match is None or match["option"] not in OPTIONS:
            continue
        variable, others = OPTIONS[match["option"]]
        if any(os.environ.get(name) for name in (variable, *others)):
            continue
        if own_file and variable != "SSL_CERT_FILE":
            continue
        value = str(ast.literal_eval(match["value"]))
        found[variable] = (",".join if variable in COMMAS else " ".join)(value.split())
    return found


if __name__ == "__main__":
    for name, text in assignments(sys.stdin.read().splitlines()).items():
        print(f"export {name}={shlex.quote(text)}")
