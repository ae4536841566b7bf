import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { askOrigin } from '../../../operations/deploy/change-origin.ts'

const base = mkdtempSync(join(tmpdir(), 'devctl-origin-'))
const work = join(base, 'work')
const env: Readonly<Record<string, string | undefined>> = {
  ...process.env,
  GITHUB_ACTIONS: '',
  GITLAB_CI: '',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example.com',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.com',
}
const git = (...words: string[]) => execFileSync('git', words, { cwd: work, env, encoding: 'utf8' }).trim()

/** Returns an environment whose git behaves differently if one of its words is the given one. */
function gitThat(word: string, does: string): typeof env {
  const folder = mkdtempSync(join(base, 'bin-'))
  const real = execFileSync('which', ['git'], { encoding: 'utf8' }).trim()
  const program = join(folder, 'git')
  writeFileSync(program, `#!/bin/sh\nfor word; do [ "$word" = ${word} ] && ${does}; done\nexec ${real} "$@"\n`)
  chmodSync(program, 0o755)
  return { ...env, PATH: `${folder}:${process.env.PATH}` }
}

const never = new AbortController().signal
const known = () => ({ branch: 'main', commit: git('rev-parse', 'HEAD') })

beforeAll(() => {
  mkdirSync(work)
  git('init', '--quiet', '--initial-branch', 'main')
  writeFileSync(join(work, 'file'), '1')
  git('add', '.')
  git('commit', '--quiet', '-m', 'first')
})
afterAll(() => rmSync(base, { recursive: true, force: true }))

describe('askOrigin', () => {
  test('askOrigin returns a clean commit only if git reports no changes', async () => {
    expect(await askOrigin(work, env, never).change).toEqual({ ...known(), subject: 'first' })
    writeFileSync(join(work, 'file'), '2')
    expect(await askOrigin(work, env, never).change).toEqual({ ...known(), subject: 'first', isDirty: true })
  })

  test('askOrigin returns the commit while git still checks for changes, and after an abort', async () => {
    const stop = new AbortController()
    const asked = askOrigin(work, gitThat('status', 'exec sleep 600'), stop.signal)
    const unchecked = { ...known(), subject: 'first', isUnchecked: true }
    expect(await asked.commit).toEqual(unchecked)
    stop.abort()
    expect(await asked.change).toEqual(unchecked)
  })

  test('askOrigin returns the commit although other git commands fail', async () => {
    const unchecked = { ...known(), isUnchecked: true }
    expect(await askOrigin(work, gitThat('status', 'exit 1'), never).change).toEqual({ ...unchecked, subject: 'first' })
    expect(await askOrigin(work, gitThat('--git-path', 'exit 1'), never).change).toEqual(unchecked)
    expect(await askOrigin(work, gitThat('log', 'exit 1'), never).change).toEqual({ ...known(), isDirty: true })
  })

  test('askOrigin returns the commit of a CI pipeline as unchecked without git', async () => {
    const pipeline = { PATH: '/nowhere', GITLAB_CI: 'true', CI_COMMIT_SHA: 'abc', CI_PROJECT_PATH: 'team/shop' }
    expect(await askOrigin(work, pipeline, never).change).toEqual({})
    git('remote', 'add', 'origin', 'https://git.example.com/team/shop.git')
    expect(await askOrigin(work, pipeline, never).change).toEqual({
      repository: 'git.example.com/team/shop',
      commit: 'abc',
      isUnchecked: true,
    })
  })
})
