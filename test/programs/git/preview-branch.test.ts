import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { servePlatform } from '../../support/cli/fake-platform.ts'
import { makeFolder, write } from '../../support/cli/folder.ts'
import { run } from '../../support/run.ts'
import { few } from '../../support/takes-all.ts'

// These tests cover the branch that `devctl preview` uses in a checkout without one, as in most CI systems.

const repository = 'https://git.example.com/team/shop'
const preview = { name: 'shop-main', status: 'Deploying', scope: 'personal', endpoints: [], labels: [] }
const WHICH = 'error: which branch? this checkout is not on one\n  = help: name it with `--branch BRANCH`'

async function detached() {
  const { url, asked } = await servePlatform({
    'POST /previews': preview,
    'GET /previews/shop-main': preview,
    'DELETE /previews/shop-main': {},
  })
  const folder = makeFolder({ 'compose.yaml': '' })
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@example.com', ...words], {
      cwd: folder,
      stdio: 'pipe',
      env: { PATH: process.env.PATH, HOME: folder },
    })
  git('init', '--quiet', '--initial-branch', 'main')
  git('remote', 'add', 'origin', 'git@git.example.com:team/shop.git')
  git('commit', '--quiet', '--allow-empty', '--message', 'one')
  git('checkout', '--quiet', '--detach')
  const stored = { [url]: { token: 'devctl_cli_x', namespace: 'ann', kubernetes: { server: 'https://127.0.0.1:9' } } }
  write(folder, { '.devctl/contexts.json': JSON.stringify({ current: url, contexts: stored }) })
  const devctl = (line: string, env: Readonly<Record<string, string>> = {}) =>
    run(['preview', ...line.split(' ')], { cwd: folder, env: { HOME: folder, PATH: process.env.PATH!, ...env } })
  return { devctl, asked }
}

describe('a checkout that is on no branch', () => {
  const lines = [
    ['deploy', '\n'],
    ['destroy', ', or name the preview: `devctl preview destroy NAME`\n'],
    ['deploy shop-main', '\n'],
    [`deploy --repository ${repository}.git`, '\n'],
    ['endpoints', ', or name the preview: `devctl preview endpoints NAME`\n'],
  ] as const
  test.each(few(lines, 2))('devctl preview %s asks for the branch', async (line, instead) => {
    const { devctl, asked } = await detached()
    expect(await devctl(line)).toEqual({ status: 2, stdout: '', stderr: `${WHICH}${instead}` })
    expect(asked.filter(call => call.includes('/previews'))).toEqual([])
  })

  test('devctl preview takes the branch from --branch, the CI pipeline or another repository', async () => {
    const { devctl } = await detached()
    const job = {
      GITHUB_ACTIONS: 'true',
      GITHUB_REPOSITORY: 'team/shop',
      GITHUB_REF_TYPE: 'branch',
      GITHUB_REF_NAME: 'main',
    }
    expect((await devctl('deploy --branch main')).stderr).toContain('Scheduled the deploy of shop-main')
    expect((await devctl('deploy', job)).stderr).toContain('Scheduled the deploy of shop-main')
    expect((await devctl('endpoints', job)).stderr).toContain('preview shop-main has no endpoints')
    const other = 'https://git.example.com/team/blog'
    expect((await devctl(`deploy --repository ${other}`)).stderr).toContain('Scheduled the deploy of shop-main')
  })

  test('devctl preview needs no branch for a named preview', async () => {
    const { devctl, asked } = await detached()
    expect((await devctl('endpoints shop-main')).status).toBe(0)
    expect(asked).toContain('GET /previews/shop-main')
  })
})
