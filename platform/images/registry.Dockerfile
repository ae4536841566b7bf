# The registry that comes with a platform (`devctl platform install --bundled-registry`): distribution, as Debian packages it.
# `devctl platform images --push HOST/PATH` builds it.
ARG DEBIAN=docker.io/library/debian:bookworm-slim
FROM ${DEBIAN}
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates docker-registry \
    && rm -rf /var/lib/apt/lists/*
USER 65532:65532
EXPOSE 5000
CMD ["docker-registry", "serve", "/etc/registry/config.yml"]
