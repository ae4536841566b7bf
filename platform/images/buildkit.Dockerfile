# A builder of the platform (`devctl platform install --builders N`): BuildKit as a user without rights on the node.
# `devctl platform images --push HOST/PATH` builds it.
ARG DEBIAN=docker.io/library/debian:bookworm-slim@sha256:3783cc01769c7b2b1b83a5c5ad96c815348e28ed7da68e2e3687004faa906251
ARG BUILDKIT=docker.io/moby/buildkit:v0.33.1@sha256:cec9f139f45e93c5c69c60f8b07cfad9f43f4ef6b6a6cd917527fea5ff2e3dea
FROM ${BUILDKIT} AS buildkit

FROM ${DEBIAN}
# The programs that give a user more ids have capabilities in the place of the bit that makes them root: in a container
# that is no root of the node, the bit is not enough.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates git libcap2-bin openssh-client rootlesskit uidmap \
    && chmod u-s /usr/bin/newuidmap /usr/bin/newgidmap \
    && setcap cap_setuid=ep /usr/bin/newuidmap \
    && setcap cap_setgid=ep /usr/bin/newgidmap \
    && apt-get purge --yes libcap2-bin \
    # Nothing else makes anybody root.
    && find / -xdev -perm /6000 -type f -exec chmod ug-s {} + \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 1000 --home-dir /home/user --create-home user \
    && echo user:100000:65536 > /etc/subuid \
    && echo user:100000:65536 > /etc/subgid \
    && mkdir -p /run/user/1000 /home/user/.local/share/buildkit \
    && chown -R user:user /run/user/1000 /home/user
COPY --from=buildkit /usr/bin/buildkitd /usr/bin/buildctl /usr/bin/buildkit-runc /usr/local/bin/
USER 1000:1000
ENV HOME=/home/user USER=user XDG_RUNTIME_DIR=/run/user/1000
VOLUME /home/user/.local/share/buildkit
EXPOSE 1234
ENTRYPOINT ["rootlesskit", "buildkitd"]
