import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { expectCleanHistory, treeAt } from '../programs/git/history.ts'
import { withRepositoryAt } from '../programs/git/own-git.ts'
import { makeFolder, write } from '../support/cli/folder.ts'
import { type Env, git, gitEnv } from '../support/git/git.ts'
import { httpServer } from '../support/git/http-server.ts'
import { type Ended, start } from '../support/git/processes.ts'
import { leftIn, manifestFor } from '../support/git/publishing.ts'
import { bareRepository, type GitServer } from '../support/git/repository.ts'
import { run } from '../support/run.ts'

/** A checkout of an application's source; some applications have several, at different commits. */
interface Source {
  readonly name: string
  readonly folder: string
}

const APPLICATIONS = 20
/** Images of the commits of one application: two commits render the same, and the newest differs from all others. */
const IMAGES = ['nginx:1.25', 'nginx:1.26', 'nginx:1.26', 'nginx:1.27', 'nginx:1.28']

const composeOf = (name: string, image: string) => `name: ${name}
services:
  web: {image: "${image}", ports: ["8080:80"], configs: [page]}
  cache: {image: "redis:7"}
configs: {page: {content: "${name}"}}
`

const SERVERS = {
  'by its path, on one machine': async (bare: GitServer) => bare,
  'over http with a password, each on a machine of its own': (bare: GitServer) =>
    httpServer(bare.repository, { password: 'correct horse' }),
}

describe(`concurrent publishes of ${APPLICATIONS} applications, and of ${IMAGES.length} commits of one`, () => {
  test.each(Object.entries(SERVERS))('all publishes end in a clean history: repository %s', async (how, serve) => {
    const root = makeFolder()
    const server = await serve(await bareRepository(root, { files: { 'README.md': 'ours\n' } }))
    onTestFinished(() => server.close())
    const begin = await git(server.repository, 'rev-parse', 'main')
    const sources = [...(await applications(root)), ...(await commitsOfOne(root))]
    const isOneMachine = how.includes('one machine')
    const began = performance.now()
    const runs = sources.map(({ folder }, index) => {
      // A run takes turns only with runs that have the same TMPDIR.
      const temporary = join(root, isOneMachine ? 'tmp' : `tmp-${index}`)
      return publish(folder, { ...server.env, TMPDIR: temporary }, server.address)
    })
    const ended = await Promise.all(runs)
    if (process.env.CONCURRENCY_TIMES) console.log(how, Math.round(performance.now() - began), 'ms', tries(ended))
    expect(ended.map(({ status, stderr }) => (status === 0 ? 0 : stderr))).toEqual(sources.map(() => 0))
    expect(leftIn(join(root, isOneMachine ? 'tmp' : 'tmp-0'))).toEqual([])

    const commits = await expectCleanHistory(server.repository, begin)
    expect(commits.length).toBeGreaterThanOrEqual(APPLICATIONS + 1)
    expect(commits.length).toBeLessThanOrEqual(sources.length - 1)

    const fresh = await bareRepository(makeFolder(), { files: { 'README.md': 'ours\n' } })
    // The last source of an application is its newest.
    const newest = new Map(sources.map(source => [source.name, source.folder]))
    // The README of each folder contains the address, so it has to be the same.
    const env = withRepositoryAt(server.address, fresh.address, { TMPDIR: join(root, 'tmp') })
    const words = ['publish', '--environment', 'staging', '--repository', server.address]
    mkdirSync(join(root, 'tmp'), { recursive: true })
    for (const folder of newest.values())
      expect((await run(words, { cwd: folder, env: { ...gitEnv(), ...env } })).status).toBe(0)
    expect(await git(fresh.repository, 'rev-list', '--count', 'main')).toBe(`${newest.size + 1}`)
    expect(await treeAt(server.repository)).toEqual(await treeAt(fresh.repository))
  })
})

function publish(cwd: string, env: Env, repository: string): Promise<Ended> {
  mkdirSync(env['TMPDIR']!, { recursive: true })
  const words = ['publish', '--environment', 'staging', '--repository', repository]
  return start(words, { cwd, env: { ...gitEnv(), ...env } }).ended
}

function applications(root: string): Promise<readonly Source[]> {
  return Promise.all(
    Array.from({ length: APPLICATIONS }, async (_, index) => {
      const name = `app-${index}`
      const folder = join(root, name)
      await git(root, 'init', '--quiet', '--initial-branch=main', folder)
      await commit(folder, name, 'nginx:1.27', 'begin')
      return { name, folder }
    }),
  )
}

/**
 * Returns clones of one source, each at its own commit: some have the whole history, some are as shallow as those of
 * pipelines.
 */
async function commitsOfOne(root: string): Promise<readonly Source[]> {
  const origin = join(root, 'shop')
  await git(root, 'init', '--quiet', '--initial-branch=main', origin)
  await git(origin, 'config', 'uploadpack.allowFilter', 'true')
  for (const [index, image] of IMAGES.entries()) {
    await commit(origin, 'shop', image, `change ${index}`)
    await git(origin, 'branch', `at-${index}`)
  }
  return Promise.all(
    IMAGES.map(async (_, index) => {
      const folder = join(root, `shop-${index}`)
      const depth = index % 2 ? ['--depth=1'] : []
      await git(root, 'clone', '--quiet', ...depth, `--branch=at-${index}`, `file://${origin}`, folder)
      return { name: 'shop', folder }
    }),
  )
}

async function commit(folder: string, name: string, image: string, subject: string): Promise<void> {
  const manifest = manifestFor('../nowhere').replaceAll('shop', name)
  write(folder, { 'compose.yaml': composeOf(name, image), 'devctl.yml': manifest, 'README.md': subject })
  await git(folder, 'add', '--all')
  await git(folder, 'commit', '--quiet', '--message', subject)
}

/** Returns the try that each run reports, if it had to try again. */
function tries(ended: readonly Ended[]): string {
  return ended.map(({ stderr }) => /\((\w+) try/.exec(stderr)?.[1] ?? '').join(' ')
}
