# Shared by the scripts beside it; sourced, not run.
# shellcheck shell=bash

REPO=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$REPO" || exit

# What set-up makes stays in the checkout, wherever MITIGAUGE_HOME puts the data.
BUILD=$REPO/.mitigauge
TOOLS=$BUILD/tools
STAMPS=$BUILD/stamps
VENV=$REPO/.venv
# What the machine itself has, and the same with ours in front.
MACHINE_PATH=$(tr ':' '\n' <<<"$PATH" | grep -vxF -e "$VENV/bin" -e "$TOOLS/bin" | paste -sd:)
export PATH="$VENV/bin:$TOOLS/bin:$MACHINE_PATH"
# Logs are read as text.
[[ -t 1 ]] || export NO_COLOR=1

say() { printf '%s\n' "$*"; }

die() {
  printf 'error: %s\n' "$1" >&2
  shift
  for line in "$@"; do printf '       %s\n' "$line" >&2; done
  exit 1
}

# listed FILE…: the entries of package lists, without comments.
listed() { sed -e 's/#.*//' -e 's/[[:space:]]*$//' -e '/^$/d' -- "$@"; }

# shell_files: the project's files that a shell runs or reads in, one a line.
shell_files() {
  local file
  git ls-files --cached --others --exclude-standard | while read -r file; do
    if [[ -f $file ]] && head -n 12 -- "$file" | grep -qaE '^#!.*\b(sh|bash)\b|^# shellcheck shell='; then
      printf '%s\n' "$file"
    fi
  done
}

# hash_of: one hash of standard input.
hash_of() { sha256sum | cut -d' ' -f1; }

# tree_hash PATH…: one hash of all files' names and contents, build results left out.
tree_hash() {
  find "$@" \( -name node_modules -o -name dist -o -name test-results -o -name .vite \
    -o -name playwright-report -o -name __pycache__ \) -prune -o -type f -print0 |
    LC_ALL=C sort -z | xargs -0 -r sha256sum | hash_of
}

# A stage of set-up is done when its stamp holds the hash of what it was made from.
is_stamped() { [[ -f $STAMPS/$1 && $(<"$STAMPS/$1") == "$2" ]]; }
stamp() { mkdir -p "$STAMPS" && printf '%s\n' "$2" >"$STAMPS/$1"; }
unstamp() { rm -f "$STAMPS/$1"; }

# as_root COMMAND…: run it as root, through sudo where we are not.
as_root() {
  if [[ $EUID == 0 ]]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo -- "$@"
  else
    die "neither root nor sudo, so Debian packages cannot be installed" \
      "as root: apt-get install --no-install-recommends ${MISSING:-}" \
      "then run this again"
  fi
}

# stop_services: stop our own database server, and the lab where there is one.
stop_services() {
  [[ -x $VENV/bin/python ]] || return 0
  "$VENV/bin/python" - <<'PYTHON'
from mitigauge.storage.database.embedded_server import stop
from mitigauge.core.settings import get_settings

settings = get_settings()
if not settings.database_url:
    stop(settings.home)
PYTHON
}
