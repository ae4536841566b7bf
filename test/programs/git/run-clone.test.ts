import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clone } from '../../../platform/runner/clone.ts'
import { git, gitEnv } from '../../support/git/git.ts'
import { type HttpServer, httpServer } from '../../support/git/http-server.ts'
import { bareRepository, commitDirectly } from '../../support/git/repository.ts'

// These tests clone as a run does, from a real git server.

describe('the clone of a run', () => {
  const home = mkdtempSync(join(tmpdir(), 'devctl-run-clone-'))
  let server: HttpServer
  let first: string
  let second: string

  beforeAll(async () => {
    const { repository } = await bareRepository(home, { files: { 'state.txt': 'one\n' } })
    // Forges allow this, too.
    await git(repository, 'config', 'uploadpack.allowReachableSHA1InWant', 'true')
    first = (await git(repository, 'rev-parse', 'main')).trim()
    second = await commitDirectly(repository, { 'state.txt': 'two\n' })
    server = await httpServer(repository)
  })
  afterAll(async () => {
    await server?.close()
    rmSync(home, { recursive: true, force: true })
  })

  const cloned = async (name: string, commit?: string) => {
    const folder = join(home, name)
    mkdirSync(folder)
    const found = await clone(
      { repository: server.address, branch: 'main', ...(commit !== undefined && { commit }) },
      { folder, env: gitEnv(), signal: AbortSignal.timeout(60_000), protocols: 'http' },
    )
    return { found, text: readFileSync(join(folder, 'state.txt'), 'utf8') }
  }

  test('clone checks out the current commit of the branch', async () => {
    expect(await cloned('branch')).toEqual({ found: second, text: 'two\n' })
  })

  test('clone checks out the deployed commit although the branch has moved', async () => {
    expect(await cloned('commit', first)).toEqual({ found: first, text: 'one\n' })
  })

  test('clone reports a commit that no longer exists', async () => {
    await expect(cloned('gone', 'f'.repeat(40))).rejects.toThrow(`does not give the commit ${'f'.repeat(40)} any more`)
  })

  /** Returns a port on which no process listens. */
  const freePort = async () => {
    const listening = createServer().listen(0, '127.0.0.1')
    await once(listening, 'listening')
    const { port } = listening.address() as AddressInfo
    listening.close()
    await once(listening, 'close')
    return port
  }

  test('clone tries again until the forge accepts connections', async () => {
    const port = await freePort()
    const { port: behind, pathname } = new URL(server.address)
    const late = createServer(socket => {
      const to = connect(Number(behind), '127.0.0.1')
      socket
        .on('error', () => to.destroy())
        .pipe(to)
        .on('error', () => socket.destroy())
        .pipe(socket)
    })
    setTimeout(() => late.listen(port, '127.0.0.1'), 1000)
    const folder = join(home, 'late')
    mkdirSync(folder)
    try {
      const options = { folder, env: gitEnv(), signal: AbortSignal.timeout(60_000), protocols: 'http' }
      expect(await clone({ repository: `http://127.0.0.1:${port}${pathname}` }, options)).toBe(second)
    } finally {
      late.close()
    }
  })

  test('clone reports a missing branch and names the existing one', async () => {
    const clonedBranch = (name: string, address: string, branch?: string) => {
      const folder = join(home, name)
      mkdirSync(folder)
      const options = { folder, env: gitEnv(), signal: AbortSignal.timeout(60_000), protocols: 'http' }
      return clone({ repository: address, ...(branch !== undefined && { branch }) }, options)
    }
    await expect(clonedBranch('unknown', server.address, 'dev')).rejects.toThrow(
      `${server.address} has no branch or tag \`dev\`; its branch is \`main\``,
    )
    const emptyHome = join(home, 'empty-home')
    mkdirSync(emptyHome)
    await git(emptyHome, 'init', '--quiet', '--bare', '--initial-branch=main', 'repository.git')
    const repository = join(emptyHome, 'repository.git')
    const empty = await httpServer(repository)
    try {
      const isEmpty = `${empty.address} is empty: push a commit to it first`
      await expect(clonedBranch('empty', empty.address)).rejects.toThrow(isEmpty)
      await expect(clonedBranch('empty-main', empty.address, 'main')).rejects.toThrow(isEmpty)
      // Its HEAD names a branch that was never pushed.
      await commitDirectly(repository, { 'state.txt': 'one\n' })
      await git(repository, 'branch', '--move', 'main', 'trunk')
      await git(repository, 'symbolic-ref', 'HEAD', 'refs/heads/main')
      await expect(clonedBranch('headless', empty.address)).rejects.toThrow(
        `${empty.address} has no main branch: name another one; its branch is \`trunk\``,
      )
      await expect(clonedBranch('nowhere', `${empty.address}x`)).rejects.toThrow(
        `${empty.address}x does not exist, or needs a credential for`,
      )
    } finally {
      await empty.close()
    }
  })

  test('clone checks out a commit of a repository with SHA-256 hashes', async () => {
    const repository = join(home, 'sha256.git')
    await git(home, 'init', '--quiet', '--bare', '--object-format=sha256', '--initial-branch=main', repository)
    const commit = await commitDirectly(repository, { 'state.txt': 'one\n' })
    expect(commit).toHaveLength(64)
    const folder = join(home, 'of-sha256')
    mkdirSync(folder)
    const sha256 = await httpServer(repository)
    try {
      const options = { folder, env: gitEnv(), signal: AbortSignal.timeout(60_000), protocols: 'http' }
      expect(await clone({ repository: sha256.address, commit }, options)).toBe(commit)
    } finally {
      await sha256.close()
    }
  })

  test.each(['certificates', 'ssl-proxy', 'not-found'])(
    'clone reports the cause of a failure, and not a word in the name of the repository %s',
    async name => {
      const folder = join(home, name)
      mkdirSync(folder)
      const options = { folder, env: gitEnv(), signal: AbortSignal.timeout(60_000), protocols: 'http', patience: 300 }
      const repository = `http://127.0.0.1:${await freePort()}/team/${name}`
      await expect(clone({ repository }, options)).rejects.toThrow(/^the cluster cannot connect to 127\.0\.0\.1:\d+/)
    },
  )

  test('clone reports a server that refuses connections and a network policy as a possible cause', async () => {
    const folder = join(home, 'nobody')
    mkdirSync(folder)
    const options = { folder, env: gitEnv(), signal: AbortSignal.timeout(60_000), protocols: 'http', patience: 300 }
    await expect(clone({ repository: `http://127.0.0.1:${await freePort()}/x.git` }, options)).rejects.toThrow(
      /cannot connect to 127\.0\.0\.1:\d+; if it is inside the cluster.* network policy in `devctl-runs`/,
    )
  })
})
