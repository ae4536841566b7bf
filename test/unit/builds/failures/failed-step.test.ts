import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { BuildFailure, type DockerfilePlace } from '../../../../adapters/buildkit/failure.ts'
import { type FailedBuild, failedStep } from '../../../../builds/failures/failed-step.ts'
import { renderDiagnostic } from '../../../../compiler/diagnostics/render/text.ts'
import { SourceFile } from '../../../../compiler/text/source.ts'
import { makeFolder } from '../../../support/cli/folder.ts'

interface Recorded {
  readonly message: string
  readonly exitStatus?: number
  readonly step?: string
  readonly place?: DockerfilePlace
}

/** Failures of BuildKit 0.33, and two that only registries with logins give. */
const failures: Readonly<Record<string, Recorded>> = JSON.parse(
  readFileSync(join(import.meta.dirname, 'build-failures.json'), 'utf8'),
)

const failureOf = ({ message, place, step, exitStatus }: Recorded) =>
  new BuildFailure(message, { place, step, exitStatus })

/** Renders the diagnostic of a recorded failure, in a folder with the context `api`. */
function shown(name: string, files: Readonly<Record<string, string>> = {}, build: Partial<FailedBuild> = {}): string {
  const cwd = makeFolder({ 'api/Dockerfile': '', ...files })
  const folder = join(cwd, 'api')
  const spec = { context: { folder }, dockerfile: { path: join(folder, 'Dockerfile') } }
  return renderDiagnostic(failedStep(failureOf(failures[name]!), { name: 'api', spec, cwd, ...build }))
}

test('every recorded failure has its place, and words that say what to do', async () => {
  const all = Object.keys(failures).map(name => `${name}\n${shown(name)}`)
  await expect(all.join('\n')).toMatchFileSnapshot(join(import.meta.dirname, 'build-failures.txt'))
  for (const text of all) {
    expect(text).toContain('--> api/Dockerfile:')
    expect(text).not.toMatch(/did not complete successfully|checksum of ref|failed to resolve|parse error/)
  }
})

describe('a path that the context does not have', () => {
  test('the error names the ignore file that leaves a path out', () => {
    const files = { 'api/.dockerignore': '# text\n*.txt\n', 'api/other.txt': '' }
    expect(shown('copy-ignored', files)).toContain('add the line `!other.txt` to its end')
    expect(shown('copy-ignored', files)).toContain(
      '`other.txt` is not in the context: `api/.dockerignore` leaves it out',
    )
  })

  test.each([
    ['other.txt\n', 'remove the line `other.txt` from it'],
    ['/other.txt\n', 'remove the line `/other.txt` from it'],
    ['other.txt\n*.txt\n', 'add the line `!other.txt` to its end'],
  ])('the hint names the line to change in the ignore file %j', (ignore, hint) => {
    expect(shown('copy-ignored', { 'api/.dockerignore': ignore, 'api/other.txt': '' })).toContain(hint)
  })

  test('the error names the ignore file of the Dockerfile, which is used instead', () => {
    const files = { 'api/.dockerignore': '', 'api/Dockerfile.dockerignore': '*\n', 'api/other.txt': '' }
    expect(shown('copy-ignored', files)).toContain('`api/Dockerfile.dockerignore` leaves it out')
  })

  test('the hint suggests the right spelling of a path', () => {
    expect(shown('copy-missing', { 'api/package.json': '{}' })).toContain('did you mean `package.json`?')
  })

  test('the hint for a path that does not exist names the context', () => {
    expect(shown('copy-ignored')).toContain('paths are relative to the context, which is `api`')
  })
})

describe('a Dockerfile in the Compose file', () => {
  const { text } = failures['from-stage-missing']!.place!
  const inlineOf = (compose: string, written: string) => {
    const file = new SourceFile('compose.yaml', compose)
    const start = compose.indexOf(written)
    return { value: text, span: { file, start, end: start + written.length } }
  }

  test('a failure in a block text has the place of its line', () => {
    const block = `|\n${text.replaceAll(/^(?=.)/gm, '        ')}`
    const compose = `services:\n  api:\n    build:\n      dockerfile_inline: ${block}`
    const said = shown('from-stage-missing', {}, { inline: inlineOf(compose, block) })
    expect(said).toContain('--> compose.yaml:7:21')
    expect(said).toContain('did you mean `builder`?')
  })

  test('a failure in a quoted text has the place of the text', () => {
    const quoted = JSON.stringify(text)
    const compose = `services:\n  api:\n    build:\n      dockerfile_inline: ${quoted}\n`
    expect(shown('from-stage-missing', {}, { inline: inlineOf(compose, quoted) })).toContain('--> compose.yaml:4:26')
  })
})

test('a failure without a place is reported at the `build`', () => {
  const file = new SourceFile('compose.yaml', 'services:\n  api:\n    build: api\n')
  const failure = new BuildFailure('failed to push r/api:1: denied', { step: 'sha256:1' })
  const spec = { context: { folder: '/nowhere' }, dockerfile: { path: '/nowhere/Dockerfile' } }
  const said = renderDiagnostic(
    failedStep(failure, { name: 'api', spec, span: { file, start: 21, end: 26 }, cwd: '/' }),
  )
  expect(said).toContain('error[build/step-failed]: the build of `api` failed: failed to push r/api:1: denied')
  expect(said).toContain('--> compose.yaml:3:5')
})

test('a Dockerfile of a remote context is shown with its path there', () => {
  const spec = { context: { remote: 'https://example.com/api.git' }, dockerfile: { path: 'docker/Dockerfile' } }
  expect(shown('exit-3')).toContain('--> api/Dockerfile:2:1')
  const said = renderDiagnostic(failedStep(failureOf(failures['copy-missing']!), { name: '', spec, cwd: '/work' }))
  expect(said).toContain('--> docker/Dockerfile:2:6')
  expect(said).toContain('error[build/step-failed]: the build failed: `package.jsn` does not exist in the context')
})

describe('a builder that does not report the place', () => {
  const old = (message: string, dockerfile: string, place?: DockerfilePlace) => {
    const cwd = makeFolder({ 'api/Dockerfile': dockerfile })
    const folder = join(cwd, 'api')
    const spec = { context: { folder }, dockerfile: { path: join(folder, 'Dockerfile') } }
    const file = new SourceFile('compose.yaml', 'services:\n  api:\n    build: api\n')
    const failure = new BuildFailure(message, { place, exitStatus: place ? undefined : 3 })
    return renderDiagnostic(failedStep(failure, { name: 'api', spec, span: { file, start: 21, end: 26 }, cwd }))
  }
  const message = 'executor failed running [/bin/sh -c echo hello &&     exit 3]: exit code: 3'

  test('a command that exists once is found in the Dockerfile', () => {
    const said = old(message, 'FROM busybox:1.37\nRUN true\nRUN --network=host echo hello && \\\n    exit 3\n')
    expect(said).toContain('the command exited with status 3\n  --> api/Dockerfile:3:1')
  })

  test('a command that exists twice is reported at the `build`', () => {
    const run = 'RUN echo hello && exit 3\n'
    expect(old(message, `FROM busybox:1.37\n${run}FROM busybox:1.37\n${run}`)).toContain('--> compose.yaml:3:5')
  })

  test('a line without its text is read from the Dockerfile', () => {
    const place = { filename: 'Dockerfile', text: '', start: 2, end: 2 }
    const said = old(
      'dockerfile parse error line 2: unknown instruction: RUNN',
      'FROM busybox:1.37\nRUNN true\n',
      place,
    )
    expect(said).toContain('`RUNN` is not an instruction of a Dockerfile\n  --> api/Dockerfile:2:1')
  })
})

test('a repository that cannot be fetched is reported with the error of git, on one line', () => {
  const git = "fatal: unable to access 'https://r.example.com/a.git/': not found"
  const message = `failed to load cache key: error fetching default branch for repository https://r.example.com/a.git: git stderr:\n${git}\n${git}\n: exit status 128`
  const spec = { context: { remote: 'https://r.example.com/a.git' }, dockerfile: { path: 'Dockerfile' } }
  const failure = new BuildFailure(message)
  expect(failedStep(failure, { name: 'api', spec, cwd: '/' }).message).toBe(
    `the build of \`api\` failed: \`https://r.example.com/a.git\` could not be fetched: ${git}`,
  )
})

test('a step that failed has a note for each secret that it mounts and the build does not have', () => {
  const text =
    'FROM busybox\nRUN --mount=type=secret,id=npm --mount=type=secret,id=key,target=/k cat /run/secrets/npm\n'
  const failure = new BuildFailure('exit code: 1', {
    place: { filename: 'Dockerfile', text, start: 2, end: 2 },
    exitStatus: 1,
  })
  const spec = {
    ...{ context: { folder: '/' }, dockerfile: { path: '/Dockerfile' } },
    secrets: new Map([['key', { value: 'x' }]]),
  }
  expect(failedStep(failure, { name: 'api', spec, cwd: '/' }).notes).toEqual([
    expect.stringContaining('the build has no secret `npm`'),
  ])
})
