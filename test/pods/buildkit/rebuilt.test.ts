import { describe, expect, test } from 'vitest'
import { findBuildkit } from '../../support/buildkit/buildkit.ts'
import { REGISTRY } from '../../support/buildkit/slow-project.ts'
import { makeFolder } from '../../support/cli/folder.ts'
import { run } from '../../support/run.ts'
import { longTest } from '../../support/takes-all.ts'

const buildkit = findBuildkit()

/** Builds the same files twice, and returns what the second build reports for each service. */
async function secondBuild(folder: string, words: readonly string[] = []) {
  const env = { BUILDKIT_HOST: buildkit!, CI: '1' }
  const build = (more: readonly string[]) =>
    run(['build', '--name', 'rebuilt', '--registry', `${REGISTRY}/rebuilt-${process.pid}`, ...more], {
      cwd: folder,
      env,
    })
  const first = await build([])
  expect(first.status, first.stderr).toBe(0)
  const second = await build(words)
  expect(second.status, second.stderr).toBe(0)
  return second.stderr.match(/^\w+: (?:built|is in the registry already)/gm)?.sort()
}

const project = (): string =>
  makeFolder({
    Dockerfile: `FROM scratch\nLABEL once=${Math.random()}\n`,
    'compose.yaml': `services:
  filter: {build: {context: ., labels: {a: filter}, no_cache_filter: [one]}}
  nocache: {build: {context: ., labels: {a: nocache}, no_cache: true}}
  label: {build: {context: ., labels: {a: "of \${DB_PASSWORD:-hunter-4711}"}}}
  token: {build: {context: ., labels: {a: b}, args: {API_TOKEN: hunter-4711}}}
  plain: {build: {context: ., labels: {a: plain}}}
  policy: {build: {context: ., labels: {a: policy}}, pull_policy: build}
  pull: {build: {context: ., labels: {a: pull}, pull: true}}
  user: {build: {context: ., labels: {a: user}, additional_contexts: {base: "service:pull"}}}
`,
  })

describe.skipIf(buildkit === undefined)('an image whose content is in the registry', () => {
  test('an image is rebuilt if its settings demand it, it has secrets, or its base is rebuilt', async () => {
    expect(await secondBuild(project())).toEqual([
      'filter: built',
      'label: built',
      'nocache: built',
      'plain: is in the registry already',
      'policy: built',
      'pull: built',
      'token: built',
      'user: built',
    ])
  })

  test('an image is built after the image of another service that its Dockerfile names', async () => {
    const registry = `${REGISTRY}/based-${process.pid}`
    const write = (content: string) =>
      makeFolder({
        'base/Dockerfile': `FROM busybox:1.37\nRUN echo ${content} >/content\n`,
        'api/Dockerfile': `ARG BASE\nFROM $BASE\nRUN grep ${content} /content\n`,
        'files/Dockerfile': `FROM scratch\nCOPY --from=${registry}/base /content /\n`,
        'compose.yaml': `services:
  api: {build: {context: api, args: {BASE: "${registry}/base:latest"}}}
  base: {image: "${registry}/base", build: base, profiles: [build]}
  files: {image: "${registry}/files", build: files}
`,
      })
    const build = (folder: string) =>
      run(['build', '--name', 'based', '--registry', registry], {
        cwd: folder,
        env: { BUILDKIT_HOST: buildkit!, CI: '1' },
      })
    for (const content of ['one', 'two']) {
      const { status, stderr } = await build(write(`${content}-${process.pid}`))
      expect(status, stderr).toBe(0)
      expect(stderr.match(/^\w+: built/gm)?.sort()).toEqual(['api: built', 'base: built', 'files: built'])
    }
  })

  longTest('an image is rebuilt with `--pull`', async () => {
    expect(await secondBuild(project(), ['--pull', 'plain', 'user'])).toContain('plain: built')
  })
})
