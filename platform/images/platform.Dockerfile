# The server of the platform, and its pages. The context is the devctl package, or a clone after `npm run build`;
# `devctl platform images --push HOST/PATH` builds it.
ARG NODE=docker.io/library/node:22-alpine@sha256:c610fcdfb1d5b4740dd70c284ed3cb16bb857e0f7166196e36a5501df7a3aa32
FROM ${NODE}
COPY dist/platform/server.cjs /devctl/server.cjs
COPY dist/platform/web /devctl/web
USER 65532:65532
ENV NODE_ENV=production
EXPOSE 8080
# A third less memory with 1,000 namespaces, for lists that take a little longer: docs/performance.md.
CMD ["node", "--max-semi-space-size=2", "--optimize-for-size", "/devctl/server.cjs"]
