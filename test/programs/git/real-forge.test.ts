import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { describe, expect, onTestFinished, test } from 'vitest'
import { root } from '../../support/cases.ts'
import { write } from '../../support/cli/folder.ts'
import { ANSWER_MS } from '../../support/deadlines.ts'
import { git, gitEnv } from '../../support/git/git.ts'
import { COMPOSE, manifestFor } from '../../support/git/publishing.ts'
import { lacks } from '../../support/lacks.ts'
import { longTest } from '../../support/takes-all.ts'

/**
 * FORGE_ADDRESS and FORGE_TOKEN name a Gitea or Forgejo and a user's token with all rights; FORGE_CA names its
 * certificate authority, if the machine does not trust it.
 */
const { FORGE_ADDRESS: address, FORGE_TOKEN: token, FORGE_CA: authority } = process.env
const BRANCH = 'devctl/staging/shop'
const NEWER = COMPOSE.replace('nginx:1.27', 'nginx:1.28')
const NEWEST = COMPOSE.replace('nginx:1.27', 'nginx:1.29')

interface Pull {
  readonly number: number
  readonly state: 'open' | 'closed'
  readonly title: string
  readonly body: string
  readonly html_url: string
  readonly head: { readonly ref: string; readonly sha: string }
}

describe.skipIf(lacks('the forge of FORGE_ADDRESS', !address || !token))('pull requests on a real forge', () => {
  /** Publishes until a pull request is open. */
  async function openedRequest() {
    const project = await publishing()
    const { publish, pulls } = project
    const first = await publish()
    expect(first, first.stderr).toMatchObject({ status: 0 })
    const [opened] = await pulls('open')
    expect(first.stdout).toContain(opened!.html_url)
    expect(opened).toMatchObject({ head: { ref: BRANCH }, title: expect.stringMatching(/^deploy\(shop\/staging\)/) })
    expect(opened!.body).toContain('| `+` | `deployment/web` | added |')
    return { ...project, opened: opened! }
  }

  /** Publishes until the pull request has a newer source. */
  async function followedRequest() {
    const project = await openedRequest()
    const { publish, change, pulls, opened } = project
    expect((await publish()).stdout, 'the same again').toMatch(/^unchanged: /)
    expect(await pulls('open')).toMatchObject([{ number: opened.number, body: opened.body }])

    await change(NEWER)
    const newer = await publish()
    expect(newer, newer.stderr).toMatchObject({ status: 0 })
    const [followed, ...others] = await pulls('open')
    expect(others).toEqual([])
    expect(followed!.number).toBe(opened.number)
    expect(followed!.head.sha).not.toBe(opened.head.sha)
    return project
  }

  test('publish opens a pull request', async () => {
    const { opened, pulls } = await openedRequest()
    expect(await pulls('open')).toMatchObject([{ number: opened.number }])
  })

  longTest('a pull request is updated, merged, opened again and closed', async () => {
    const { publish, change, pulls, path, branches, opened } = await followedRequest()
    await merge(`${path}/pulls/${opened.number}/merge`)
    expect((await publish()).stdout, 'after it was merged').toMatch(/^unchanged: /)
    expect(await pulls('open')).toEqual([])

    await change(NEWEST)
    const again = await publish()
    expect(again, again.stderr).toMatchObject({ status: 0 })
    const [fresh] = await pulls('open')
    expect(fresh!.number).toBeGreaterThan(opened.number)
    expect(fresh!.body).toContain('nginx:1.28')

    await change(NEWER)
    const taken = await publish()
    expect(taken, taken.stderr).toMatchObject({ status: 0 })
    expect(await pulls('open'), 'when it is not needed any more').toEqual([])
    expect(await branches()).not.toContain(BRANCH)
  })

  longTest('an invalid token opens no pull request, and an open pull request gets one preview comment', async () => {
    const { publish, pulls, path } = await publishing()
    const { status, stdout, stderr } = await publish({ DEVCTL_FORGE_TOKEN: 'not-a-token' })
    expect(status).toBe(1)
    expect(`${stdout}${stderr}`).toContain('/compare/main...')
    expect(stderr).not.toContain(token!)
    expect(await pulls('open')).toEqual([])
    expect((await publish()).status, 'the next publish opens it').toBe(0)
    const open = await pulls('open')
    expect(open).toHaveLength(1)

    // The pull request gets one preview comment, which is then updated.
    const { number } = open[0]!
    await call('POST', `${path}/issues/${number}/comments`, { body: 'of somebody else' })
    const comment = await commenting()
    for (const status of ['Failed', 'Active']) await comment(`${address}${path.replace('/repos', '')}`, number, status)
    const all = (await call('GET', `${path}/issues/${number}/comments`)) as { body: string }[]
    expect(all).toHaveLength(2)
    expect(all[1]!.body).toMatch(/^<!-- devctl preview shop -->\s+\*\*Preview \[shop\]\(https:.*\)\*\*: ✅ ready/)
  })
})

/**
 * Creates a repository of the forge, which is deleted when the test ends, and an application that is published to it.
 */
async function publishing() {
  const { login } = (await call('GET', '/user')) as { login: string }
  const name = `deploy-${process.pid}-${Math.random().toString(36).slice(2, 8)}`
  const path = `/repos/${login}/${name}`
  await call('POST', '/user/repos', { name, auto_init: true, default_branch: 'main' })
  const folder = mkdtempSync(join(tmpdir(), 'devctl-forge-'))
  onTestFinished(async () => {
    rmSync(folder, { recursive: true, force: true })
    await call('DELETE', path)
  })
  const source = join(folder, 'source')
  mkdirSync(source)
  const repository = `${address}/${login}/${name}.git`
  const more = '    pullRequest: {forge: gitea}\n'
  write(source, { 'compose.yaml': COMPOSE, 'devctl.yml': manifestFor(repository, more) })
  await git(source, 'init', '--quiet', '--initial-branch=main')
  const change = async (compose: string) => {
    write(source, { 'compose.yaml': compose })
    await git(source, 'add', '--all')
    await git(source, 'commit', '--quiet', '--allow-empty', '--message', 'change')
  }
  await change(COMPOSE)
  return {
    path,
    change,
    publish: (more: Readonly<Record<string, string>> = {}) => devctl(source, more),
    pulls: (state: string) => call('GET', `${path}/pulls?state=${state}`) as Promise<readonly Pull[]>,
    branches: async () => ((await call('GET', `${path}/branches`)) as { name: string }[]).map(one => one.name),
  }
}

/** Returns a function that comments as `devctl preview deploy --comment` does, in a process that trusts the forge. */
async function commenting(): Promise<(repository: string, number: number, status: string) => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), 'devctl-comment-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const outfile = join(folder, 'comment.cjs')
  const entry = join(root, 'platform/session/preview-comment.ts')
  await build({ entryPoints: [entry], outfile, bundle: true, platform: 'node', format: 'cjs', logLevel: 'error' })
  const program = `
    const { previewComment } = (await import(process.env.MODULE)).default
    const preview = { name: 'shop', status: process.env.STATUS, endpoints: [] }
    const place = { repository: process.env.REPOSITORY, number: Number(process.env.NUMBER) }
    const signal = AbortSignal.timeout(60_000)
    const comment = await previewComment(place, process.env, signal)
    await comment(preview, 'https://platform.example.com/namespaces/shop', signal)`
  return async (repository, number, status) => {
    const env = {
      ...gitEnv(),
      MODULE: outfile,
      STATUS: status,
      REPOSITORY: repository,
      NUMBER: String(number),
      GITEA_SERVER_URL: address!,
      GITEA_TOKEN: token!,
      ...(authority && { NODE_EXTRA_CA_CERTS: authority }),
    }
    await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], { env, timeout: ANSWER_MS })
  }
}

/** Merges; the forge answers 405 as long as it looks for conflicts. */
async function merge(path: string): Promise<void> {
  for (const deadline = Date.now() + ANSWER_MS; ; await new Promise(resolve => setTimeout(resolve, 300))) {
    try {
      await call('POST', path, { Do: 'squash' })
      return
    } catch (error) {
      if (Date.now() > deadline || !/: 405 /.test(String(error))) throw error
    }
  }
}

/** Runs `devctl publish` as a user has it: the built program, with the forge's certificate known to Node.js and git. */
function devctl(cwd: string, more: Readonly<Record<string, string>>) {
  const env = {
    ...gitEnv(),
    PATH: process.env.PATH ?? '',
    DEVCTL_GIT_TOKEN: token!,
    DEVCTL_FORGE_TOKEN: token!,
    DEVCTL_GIT_TOKEN_HOST: new URL(address!).host,
    DEVCTL_FORGE_TOKEN_HOST: new URL(address!).host,
    ...(authority && { NODE_EXTRA_CA_CERTS: authority, GIT_SSL_CAINFO: authority }),
    ...more,
  }
  const words = [join(root, 'bin/devctl.cjs'), 'publish', '--environment', 'staging']
  return new Promise<{ status: number; stdout: string; stderr: string }>(resolve => {
    execFile(process.execPath, words, { cwd, env, timeout: 240_000 }, (error, stdout, stderr) => {
      resolve({ status: error ? Number(error.code ?? 1) : 0, stdout, stderr })
    })
  })
}

/** Calls the forge's API; rejects for an answer that is an error. */
function call(method: string, path: string, body?: object): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `token ${token}`, 'content-type': 'application/json' }
    const ca = authority ? readFileSync(authority) : undefined
    const sent = request(`${address}/api/v1${path}`, { method, headers, ca, timeout: ANSWER_MS }, async answer => {
      const isGood = (answer.statusCode ?? 500) < 300
      const said = await json(answer).catch(() => undefined)
      if (isGood) resolve(said)
      else reject(new Error(`${method} ${path}: ${answer.statusCode} ${JSON.stringify(said)}`))
    })
    sent.on('timeout', () => sent.destroy(new Error(`${method} ${path}: no answer in ${ANSWER_MS / 1000} s`)))
    sent.on('error', reject)
    sent.end(body && JSON.stringify(body))
  })
}
