import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { readGitFacts } from '../../../adapters/git/git-facts.ts'

const work = mkdtempSync(join(tmpdir(), 'devctl-git-facts-'))
afterAll(() => rmSync(work, { recursive: true, force: true }))

describe('readGitFacts', () => {
  const env = {
    ...process.env,
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CEILING_DIRECTORIES: work,
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@example.com',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@example.com',
  }
  const git = (...words: string[]) => execFileSync('git', words, { cwd: work, env, encoding: 'utf8' }).trim()

  test('readGitFacts returns nothing outside a repository and without git', async () => {
    expect(await readGitFacts(work, env)).toEqual({})
    expect(await readGitFacts(work, { PATH: '/nowhere' })).toEqual({})
  })

  test('readGitFacts returns branch, commit and address, with a separate id for uncommitted changes', async () => {
    git('init', '--quiet', '--initial-branch', 'feature/x')
    expect(await readGitFacts(work, env)).toEqual({ branch: 'feature/x' })
    writeFileSync(join(work, 'file'), '1')
    git('add', '.')
    git('commit', '--quiet', '-m', 'first')
    git('remote', 'add', 'backup', '/srv/x')
    git('remote', 'add', 'origin', 'https://ann:secret@example.com/shop.git')
    const head = git('rev-parse', 'HEAD')
    expect(await readGitFacts(work, env)).toEqual({
      branch: 'feature/x',
      commit: head,
      repository: 'https://example.com/shop.git',
    })
    writeFileSync(join(work, 'new file'), '1')
    const first = await readGitFacts(work, env)
    expect(first.commit).toMatch(/^[0-9a-f]{40}$/)
    expect(first.commit).not.toBe(head)
    expect(await readGitFacts(work, env)).toEqual(first)
    appendFileSync(join(work, 'new file'), '2')
    expect((await readGitFacts(work, env)).commit).not.toBe(first.commit)
  })

  test('readGitFacts returns an id of the changed state if a folder was replaced by a file', async () => {
    mkdirSync(join(work, 'lib'))
    writeFileSync(join(work, 'lib/x'), '1')
    git('add', '.')
    git('commit', '--quiet', '-m', 'second')
    rmSync(join(work, 'lib'), { recursive: true })
    writeFileSync(join(work, 'lib'), '1')
    const { commit } = await readGitFacts(work, env)
    expect(commit).toMatch(/^[0-9a-f]{40}$/)
    expect(commit).not.toBe(git('rev-parse', 'HEAD'))
  })

  test('readGitFacts assumes changes if there is no folder for temporary files', async () => {
    const { branch, commit } = await readGitFacts(work, { ...env, TMPDIR: join(work, 'nothing') })
    expect(branch).toBe('feature/x')
    expect(commit).toMatch(/^[0-9a-f]{40}$/)
    expect(commit).not.toBe(git('rev-parse', 'HEAD'))
  })

  test('readGitFacts runs no program from the configuration of the repository', async () => {
    const head = git('rev-parse', 'HEAD')
    git('config', 'filter.evil.clean', 'touch ran-filter; cat')
    git('config', 'core.fsmonitor', 'touch ran-monitor; false')
    git('config', 'core.untrackedCache', 'true')
    writeFileSync(join(work, '.git/info/attributes'), '* filter=evil\n')
    utimesSync(join(work, 'file'), 1, 1)
    expect((await readGitFacts(work, env)).commit).not.toBe(head)
    expect(readdirSync(work).filter(name => name.startsWith('ran'))).toEqual([])
    rmSync(join(work, '.git/info/attributes'))
  })

  test('readGitFacts returns no branch for a detached head', async () => {
    git('checkout', '--quiet', '--detach')
    expect(await readGitFacts(work, env)).not.toHaveProperty('branch')
  })

  test('readGitFacts throws the reason of an aborted signal', async () => {
    await expect(readGitFacts(work, env, AbortSignal.abort(new Error('stop')))).rejects.toThrow('stop')
  })
})
