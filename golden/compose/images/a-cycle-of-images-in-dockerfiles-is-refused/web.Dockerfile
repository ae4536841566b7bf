ARG VERSION=1
FROM registry.example.com/base:$VERSION
