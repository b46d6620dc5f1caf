# Programs of requirements/release.txt, in a place of their own; sourced, not run.
# shellcheck shell=bash

bring_tools() {
  RELEASE_TOOLS=$TOOLS/release
  local wanted
  wanted=$(hash_of <requirements/release.txt)
  [[ $(cat "$RELEASE_TOOLS/stamp" 2>/dev/null) == "$wanted" ]] && return
  say "tools of a release"
  rm -rf "$RELEASE_TOOLS"
  "$VENV/bin/python" -m venv --without-pip "$RELEASE_TOOLS"
  with_pip_settings
  VIRTUAL_ENV=$RELEASE_TOOLS "$TOOLS/python/bin/uv" pip sync --quiet --require-hashes requirements/release.txt
  printf '%s\n' "$wanted" >"$RELEASE_TOOLS/stamp"
}

# uv asks the registries that pip is told of.
with_pip_settings() {
  eval "$("$TOOLS/python/bin/python" -m pip --disable-pip-version-check config list |
    "$TOOLS/python/bin/python" scripts/pip_to_uv.py)"
  export UV_SYSTEM_CERTS=${UV_SYSTEM_CERTS:-true} UV_PYTHON_DOWNLOADS=never
}
