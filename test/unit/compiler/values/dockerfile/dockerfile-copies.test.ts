import { expect, test } from 'vitest'
import { readDockerfile } from '../../../../../compiler/values/dockerfile/dockerfile.ts'
import { holdsCopy } from '../../../../../compiler/values/dockerfile/dockerfile-copies.ts'

const FILES = new Set(['package.json', 'src/a.js', 'conf/app.ini', 'site.tar.gz'])

// Each row has a Dockerfile, a path in the context, the mount path, and true if the image is known to have the path
// there.
test.each([
  ['WORKDIR /app\nCOPY . .', '', '/app', true],
  ['WORKDIR /app\nCOPY . .', 'src', '/app/src', true],
  ['WORKDIR /app\nCOPY . .', 'src', '/srv', false],
  ['WORKDIR /app\nCOPY . .', '', '/', false],
  ['COPY . .', '', '/app', false],
  ['WORKDIR /app\nWORKDIR sub\nCOPY ./ ./', 'src/a.js', '/app/sub/src/a.js', true],
  ['COPY src /app/', 'src', '/app', true],
  ['COPY src /app/', 'src', '/app/src', false],
  ['COPY package.json /app/', 'package.json', '/app/package.json', true],
  ['COPY package.json /app', 'package.json', '/app', true],
  ['COPY package.json conf/app.ini /etc/x/', 'conf/app.ini', '/etc/x/app.ini', true],
  ['COPY package*.json /app/', 'package.json', '/app/package.json', true],
  ['COPY s* /app/', 'src', '/app', true],
  ['COPY ["src", "/my app"]', 'src', '/my app', true],
  ['COPY --chown=node:node --chmod=644 ["src", "/app"]', 'src', '/app', true],
  ['COPY --parents src/a.js /app/', 'src/a.js', '/app/src/a.js', true],
  ['COPY --exclude=*.ini . /app', 'src', '/app/src', true],
  ['COPY --exclude=conf . /app', 'conf/app.ini', '/app/conf/app.ini', false],
  ['ADD . /app', 'src', '/app/src', true],
  ['ADD site.tar.gz /srv/', 'site.tar.gz', '/srv/site.tar.gz', false],
  ['ADD https://example.com/src /app/', 'src', '/app', false],
  ['ARG DIR=/app\nCOPY src ${DIR}', 'src', '/app', true],
  ['COPY src $UNKNOWN/src', 'src', '/src', false],
  ['COPY <<EOF /app/src\nhello\nEOF', 'src', '/app/src', false],
  ['COPY --from=other src /app', 'src', '/app', false],
  ['WORKDIR /app\nCOPY . .\nFROM scratch\nCOPY --from=0 /app /jobs', 'src', '/jobs/src', true],
  ['WORKDIR /app\nCOPY . .\nFROM scratch\nCOPY --from=0 /app/src /jobs', 'src', '/jobs', true],
  ['WORKDIR /app\nCOPY . .\nFROM scratch\nCOPY --from=0 /app/src /jobs', 'conf', '/jobs/conf', false],
  ['COPY src /app\nFROM scratch', 'src', '/app', false],
])('the image of %j has a copy of %s at %s: %s', (lines, path, target, expected) => {
  const { copied } = readDockerfile(`FROM base\n${lines}`, undefined, new Map())
  expect(holdsCopy(copied, path, !FILES.has(path), target)).toBe(expected)
})

test('a target has the copies of the stages that it is built from', () => {
  const text = 'FROM x AS base\nWORKDIR /app\nCOPY src src\nFROM base AS dev\nFROM scratch AS last'
  const held = (target: string) => holdsCopy(readDockerfile(text, target, new Map()).copied, 'src', true, '/app/src')
  expect([held('dev'), held('last')]).toEqual([true, false])
})
