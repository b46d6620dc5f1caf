# A root of Debian's packages that reaches registries as this machine does; sourced, not run.
# shellcheck shell=bash
# What sources this sets SUITE, and AS: root, or an ordinary user with sudo. SLIM=1: without manuals.

CERTIFICATES=/etc/ssl/certs/ca-certificates.crt

# The machine's own mirror, if it has one, with its apt options; never written into the project.
mirror_lines() {
  PYTHONDONTWRITEBYTECODE=1 "${PYTHON:-python3}" - "$SUITE" <<'PYTHON'
import sys
from mitigauge.core.apt_sources import find_mirror

mirror = find_mirror()
if mirror:
    print("\n".join(line for line in mirror.lines(sys.argv[1]) if "-backports" not in line))
PYTHON
}

# make_root ROOT PACKAGES: a minimal Debian with these packages, commas between.
make_root() {
  local root=$1 include=$2 option name
  local -a lines options=()
  mapfile -t lines < <(mirror_lines)
  while read -r option; do options+=(--aptopt="$option"); done < <(
    for name in Acquire::http::Proxy Acquire::https::Proxy Acquire::https::CAInfo \
      Acquire::Check-Valid-Until Acquire::Check-Date; do
      apt-config dump --no-empty --format '%f "%v";%n' "$name"
    done
  )
  say "==> Debian $SUITE with $include"
  # As Debian's own slim images do.
  if [[ -n ${SLIM:-} ]]; then
    for name in man locale doc; do options+=(--dpkgopt="path-exclude=/usr/share/$name/*"); done
  fi
  printf '%s\n' "${lines[@]}" | mmdebstrap --quiet --mode=root --variant=minbase \
    --include="$include" "${options[@]}" "$SUITE" "$root" "${lines:+-}"
}

# follow_machine ROOT: how this machine reaches registries: certificates, pip's, npm's and uv's
# configuration.
follow_machine() {
  local root=$1 home=$1/root file
  cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
  find /usr/local/share/ca-certificates -name '*.crt' \
    -exec cp -t "$root/usr/local/share/ca-certificates/" {} + 2>/dev/null || true
  chroot "$root" update-ca-certificates >/dev/null 2>&1
  if [[ $AS != root ]]; then
    chroot "$root" useradd --create-home --shell /bin/bash "$AS"
    printf '%s ALL=(ALL) NOPASSWD: ALL\n' "$AS" >"$root/etc/sudoers.d/fresh"
    home=$root/home/$AS
  fi
  for file in /etc/pip.conf /etc/uv/uv.toml; do
    if [[ -f $file ]]; then install -D "$file" "$root$file"; fi
  done
  for file in .config/pip/pip.conf .pip/pip.conf .config/uv/uv.toml; do
    if [[ -f $HOME/$file ]]; then install -D "$HOME/$file" "$home/$file"; fi
  done
  # Paths in .npmrc are this machine's; only how to reach the registry is wanted.
  sed -nE '/^((@[^:]*:)?registry|proxy|https-proxy|\/\/)/p' "$HOME/.npmrc" >"$home/.npmrc" 2>/dev/null || true
  [[ $AS == root ]] || chroot "$root" chown -R "$AS:" "/home/$AS"
}

# NAME=VALUE of what is passed into the root: network settings, no local paths.
environment() {
  printf '%s\n' "SSL_CERT_FILE=$CERTIFICATES" "PIP_CERT=$CERTIFICATES" \
    "REQUESTS_CA_BUNDLE=$CERTIFICATES" "NODE_EXTRA_CA_CERTS=$CERTIFICATES" TERM=dumb LANG=C.UTF-8
  env | grep -iE '^((http|https|all|no)_proxy|PIP_(INDEX_URL|EXTRA_INDEX_URL|TRUSTED_HOST|DEFAULT_TIMEOUT)|UV_(INDEX_URL|DEFAULT_INDEX|INDEX)|NPM_CONFIG_REGISTRY|MITIGAUGE_LAB_PORT_BASE|MITIGAUGE_PORT)=' || true
}
