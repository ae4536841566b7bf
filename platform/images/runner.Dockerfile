# Runs of pipelines: Node.js, git, bash, kubectl, helm, and devctl. The context is the devctl package, or a clone after
# `npm run build`; `devctl platform images --push HOST/PATH` builds it.
ARG NODE=docker.io/library/node:22-slim@sha256:83f487e0a63425e5b4d146fb5e5be574bcbe1b7b843d3ebafdd95eaf7767a7e5
ARG KUBECTL=registry.k8s.io/kubectl:v1.34.1@sha256:59bafa07ff3a6d4b417e7633ddb9d79a9606ca98bf64bac080b3e65748669250
ARG HELM=docker.io/alpine/helm:3.19.0@sha256:aef9b56f64e866207d9591d0abd8f6d767b36aadd12edf68f8a719716d9d29c9
FROM ${KUBECTL} AS kubectl
FROM ${HELM} AS helm

FROM ${NODE}
RUN apt-get update \
    && apt-get install --yes --no-install-recommends bash ca-certificates git \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 65532 --home-dir /tmp --no-create-home --shell /bin/bash runner
COPY --from=kubectl /bin/kubectl /usr/local/bin/kubectl
COPY --from=helm /usr/bin/helm /usr/local/bin/helm
COPY package.json /devctl/package.json
COPY bin /devctl/bin
COPY dist/bin /devctl/dist/bin
COPY dist/agent /devctl/dist/agent
COPY dist/platform/runner.cjs /devctl/runner.cjs
RUN ln -s /devctl/bin/devctl.cjs /usr/local/bin/devctl
USER 65532:65532
ENV NODE_ENV=production
WORKDIR /source
CMD ["devctl", "--help"]
