# The registry that comes with a platform (`devctl platform install --bundled-registry`): distribution, as Debian packages it.
# `devctl platform images --push HOST/PATH` builds it.
ARG DEBIAN=docker.io/library/debian:bookworm-slim@sha256:3783cc01769c7b2b1b83a5c5ad96c815348e28ed7da68e2e3687004faa906251
FROM ${DEBIAN}
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates docker-registry \
    && rm -rf /var/lib/apt/lists/*
USER 65532:65532
EXPOSE 5000
CMD ["docker-registry", "serve", "/etc/registry/config.yml"]
