import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clone } from '../../platform/runner/clone.ts'
import { git, gitEnv } from '../git/git.ts'
import { type HttpServer, httpServer } from '../git/http-server.ts'
import { bareRepository, commitDirectly } from '../git/repository.ts'

// What a run clones, from a real server of git.

describe('a run clones', () => {
  const home = mkdtempSync(join(tmpdir(), 'devctl-run-clone-'))
  let server: HttpServer
  let first: string
  let second: string

  beforeAll(async () => {
    const { repository } = await bareRepository(home, { files: { 'state.txt': 'one\n' } })
    // As forges do.
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

  test('the branch as it is', async () => {
    expect(await cloned('branch')).toEqual({ found: second, text: 'two\n' })
  })

  test('the commit that was deployed, whatever the branch has now', async () => {
    expect(await cloned('commit', first)).toEqual({ found: first, text: 'one\n' })
  })

  test('a commit that is gone is told', async () => {
    await expect(cloned('gone', 'f'.repeat(40))).rejects.toThrow(`does not give the commit ${'f'.repeat(40)} any more`)
  })
})
