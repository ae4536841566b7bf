# The registry that comes with a platform (`devctl platform install --bundled-registry`): distribution, as Debian packages it.
#   devctl build --file platform/images/registry.Dockerfile --tag registry.example.com/devctl/registry:0.1.0 .
FROM debian:bookworm-slim
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates docker-registry \
    && rm -rf /var/lib/apt/lists/*
USER 65532:65532
EXPOSE 5000
CMD ["docker-registry", "serve", "/etc/registry/config.yml"]
