import { execFile } from 'node:child_process'
import { appendFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { write } from '../cli/folder.ts'
import { blocksOf, commandsOf, pages, printed, wordsOf } from '../docs/blocks.ts'
import { git, hermeticGitEnv } from '../git/git.ts'
import { bareRepository } from '../git/repository.ts'
import { run } from '../run.ts'

/** The application of docs/gitops.md. */
const COMPOSE = `name: shop
services:
  web:
    image: nginx:1.27-alpine
    ports: ["8080:80"]
  api:
    image: ghcr.io/acme/shop-api:1.4.2
    expose: ["3000"]
  db:
    image: postgres:16
    environment:
      POSTGRES_PASSWORD: \${DB_PASSWORD:?}
    volumes: ["data:/var/lib/postgresql/data"]
volumes:
  data:
`

const root = realpathSync(mkdtempSync(join(tmpdir(), 'devctl-docs-')))
afterAll(() => rmSync(root, { recursive: true, force: true }))

/** A source and a GitOps repository, which git finds under the addresses of the page. */
async function shop(manifest: string) {
  const env = hermeticGitEnv(join(root, 'home'))
  for (const name of ['shop', 'deploy']) {
    mkdirSync(join(root, name))
    const { repository } = await bareRepository(join(root, name))
    const rule = `[url "file://${repository}"]\n\tinsteadOf = git@github.com:acme/${name}.git\n`
    appendFileSync(env['GIT_CONFIG_GLOBAL']!, rule)
  }
  const source = join(root, 'source')
  write(source, { 'compose.yaml': COMPOSE, 'devctl.yml': manifest })
  await git(source, 'init', '--quiet', '--initial-branch=main')
  await git(source, 'remote', 'add', 'origin', 'git@github.com:acme/shop.git')
  await git(source, 'add', '--all')
  await git(source, 'commit', '--quiet', '--message', 'The shop')
  const push = ['push', '--quiet', '--set-upstream', 'origin', 'main']
  expect(await inShell(`git ${push.join(' ')}`, source, env)).toBe('')
  return { source, env }
}

/** Blocks marked `publish` are one session for each page: its first manifest, and their commands in order. */
for (const page of pages) {
  const blocks = blocksOf(page)
  const shown = blocks.filter(({ marks }) => marks.includes('publish')).flatMap(commandsOf)
  if (shown.length === 0) continue
  test(page, async () => {
    const manifest = blocks.find(({ marks }) => marks.includes('devctl'))!.text
    const { source, env } = await shop(manifest)
    for (const { command, output } of shown) {
      const [words = []] = wordsOf(command)
      const said =
        words[0] === 'devctl'
          ? await run(words.slice(1), { cwd: source, env }).then(({ stderr, stdout }) => stderr + stdout)
          : await inShell(command, source, env)
      const lines = output.filter((line, index) => line !== '' || index < output.length - 1)
      if (lines.length > 0) expect(said, command).toMatch(printed(lines))
    }
  })
}

function inShell(command: string, cwd: string, env: Readonly<Record<string, string>>): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile('sh', ['-c', command], { cwd, env, timeout: 30_000 }, (error, stdout, stderr) =>
      error ? reject(error) : resolve(stdout + stderr),
    )
  })
}
