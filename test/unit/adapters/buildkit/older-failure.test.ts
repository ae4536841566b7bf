import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Metadata, type ServiceError } from '@grpc/grpc-js'
import { expect, test } from 'vitest'
import { BuildFailure, solveError } from '../../../../adapters/buildkit/failure.ts'
import { failedStep } from '../../../../builds/failures/failed-step.ts'
import { shownPlace } from '../../../../compiler/text/source.ts'

const DOCKERFILE = `ARG BASE
FROM $BASE AS builder
COPY a.txt  /in/
# a comment
RUN make \\
  # and another one
  all
COPY a.txt \${TO}/b
FROM registry.example.com/tools:1
COPY a.txt /in/
COPY mising.txt /in/
COPY --from=biulder /in/nope /x
ADD http://example.com/x /x
RUN --mount=type=secret,id=tok cat /run/secrets/tok
`

const LLB = 'failed to solve with frontend dockerfile.v0: failed to create LLB definition: '

/** Messages of Docker 20.10 and the step that the status names, with the position and the start of the diagnostic. */
const cases: readonly (readonly [text: string, step: string, place: string, message: string, hint?: string])[] = [
  [
    `${LLB}registry.example.com/tools:1: not found`,
    '[internal] load metadata for registry.example.com/tools:1',
    '9:6',
    'the image `registry.example.com/tools:1` does not exist in the registry `registry.example.com`',
    'check its name and tag',
  ],
  [
    `${LLB}pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed`,
    '[internal] load metadata for registry.example.com/tools:1',
    '9:6',
    'the registry `registry.example.com` does not allow pulling `registry.example.com/tools:1`',
    'check the name, and log in: `docker login registry.example.com`',
  ],
  [
    'failed to load cache key: docker.io/library/biulder:latest: not found',
    'FROM docker.io/library/biulder:latest',
    '12:13',
    '`biulder` is neither a stage',
    'did you mean `builder`?',
  ],
  [
    'failed to compute cache key: "/mising.txt" not found: not found',
    '[stage-1 3/6] COPY mising.txt /in/',
    '11:6',
    '`mising.txt` does not exist in the context',
    'did you mean `missing.txt`?',
  ],
  [
    'lstat /var/lib/docker/overlay2/eyz024y38r8f/merged/in/nope: no such file or directory',
    '[stage-1 4/6] COPY --from=biulder /in/nope /x',
    '12:21',
    '`/in/nope` does not exist in the context or image `biulder`',
  ],
  [
    'failed to compute cache key: "/a.txt" not found: not found',
    '[builder 2/4] COPY a.txt  /in/',
    '3:6',
    '`a.txt` does not exist in the context',
  ],
  [
    'failed to compute cache key: "/a.txt" not found: not found',
    '[stage-1 2/6] COPY a.txt /in/',
    '10:6',
    '`a.txt` does not exist in the context',
  ],
  [
    'failed to compute cache key: "/a.txt" not found: not found',
    '[builder 4/4] COPY a.txt /data/b',
    '8:6',
    '`a.txt` does not exist in the context',
  ],
  ['executor failed running [/bin/sh -c make   all]: exit code: 2', '', '5:1', 'the command exited with status 2'],
  [
    'executor failed running [/bin/sh -c make   all]: network bridge not found',
    '[builder 3/4] RUN make   all',
    '5:1',
    'the command could not be run: network bridge not found',
  ],
  [
    'secret tok not found: not found',
    '[stage-1 6/6] RUN --mount=type=secret,id=tok cat /run/secrets/tok',
    '14:25',
    'the build has no secret `tok`',
  ],
  [
    'failed to load cache key: Get "http://example.com/x": dial tcp: connect: connection refused',
    'http://example.com/x',
    '13:1',
    'failed to load cache key',
  ],
  [`${LLB}base name ($BASE) should not be blank`, '', '2:6', '`$BASE` is empty'],
  [
    `${LLB}target stage biulder could not be found`,
    '',
    '',
    'the Dockerfile has no stage `biulder`',
    'did you mean `builder`?',
  ],
  [`${LLB}dockerfile parse error line 3: unknown instruction: COPPY`, '', '3:1', '`COPPY` is not an instruction'],
  [`${LLB}ENV must have two arguments`, '', '', 'ENV must have two arguments'],
]

test.each(cases)('a failure of Docker Engine 20.10 is located: %s', async (details, name, place, message, hint) => {
  const folder = await mkdtemp(join(tmpdir(), 'devctl-test-'))
  try {
    const path = join(folder, 'Dockerfile')
    await writeFile(path, DOCKERFILE)
    await writeFile(join(folder, 'missing.txt'), '')
    const step = name === '' ? undefined : { digest: 'sha256:1', name, error: details }
    const error = { code: 2, details, metadata: new Metadata() } as ServiceError
    const failure = solveError(error, 'the Docker Engine', step as never)
    expect(failure).toBeInstanceOf(BuildFailure)
    const spec = { context: { folder }, dockerfile: { path } }
    const found = failedStep(failure as BuildFailure, { name: 'web', spec, cwd: folder })
    const at = found.span && shownPlace(found.span).replace('Dockerfile:', '')
    expect(found.code).toBe('build/step-failed')
    expect(found.message).toContain(`the build of \`web\` failed: ${message}`)
    expect(at ?? '').toBe(place)
    if (hint !== undefined) expect(found.hint).toBe(hint)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
