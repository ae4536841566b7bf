import { execFile } from 'node:child_process'
import { appendFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { main } from '../../../cli/main.ts'
import { write } from '../../support/cli/folder.ts'
import {
  type Block,
  blocksOf,
  commandsOf,
  markOf,
  pages,
  printed,
  settingsOf,
  wordsOf,
} from '../../support/docs/blocks.ts'
import { git, hermeticGitEnv } from '../../support/git/git.ts'
import { bareRepository } from '../../support/git/repository.ts'
import { type MemoryRegistry, memoryRegistry } from '../../support/registry/memory-registry.ts'

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

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'devctl-docs-')))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A source and a GitOps repository, which git finds under the addresses of the page. */
async function shop(manifest: string) {
  const root = mkdtempSync(join(folder, 'session-'))
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

/** The registry of the pages, which is on this machine. */
const REGISTRY = 'registry.example.com'

/** The pages that continue the story of docs/gitops.md, in the order in which people read them. */
const CONTINUED = ['controllers', 'ci', 'repository'].map(name => `docs/gitops/${name}.md`)

/**
 * Blocks marked `publish` are one session for each page: its first manifest, and their commands in order. In one marked
 * `without=KEY` the environment lacks that key.
 */
for (const page of pages.filter(one => !CONTINUED.includes(one))) {
  const blocks = [page, ...(page === 'docs/gitops.md' ? CONTINUED : [])].flatMap(blocksOf)
  const shown = blocks.filter(({ marks }) => marks.includes('publish'))
  if (shown.length === 0) continue
  test(page, async () => {
    const manifest = blocks.find(({ marks }) => marks.includes('devctl'))!.text
    const session = { ...(await shop(manifest)), registry: await memoryRegistry() }
    for (const block of shown) {
      write(session.source, { 'devctl.yml': without(manifest, markOf(block, 'without')) })
      await tryBlock(block, session)
    }
  })
}

type Session = Awaited<ReturnType<typeof shop>> & { readonly registry: MemoryRegistry }

async function tryBlock(block: Block, { source, env, registry }: Session): Promise<void> {
  for (const { command, output } of commandsOf(block)) {
    const [words = []] = wordsOf(command.replaceAll(REGISTRY, registry.host))
    const said =
      words[0] === 'devctl'
        ? await onTerminal(words.slice(1), source, { ...env, ...settingsOf(command) })
        : await inShell(command, source, env)
    const lines = output.filter((line, index) => line !== '' || index < output.length - 1)
    const text = said.replaceAll(registry.host, REGISTRY)
    if (lines.length > 0) expect(text, command).toMatch(printed(lines))
  }
}

/** The manifest without a key of its environment, and what stands below it. */
const without = (manifest: string, key: string | undefined): string =>
  key === undefined ? manifest : manifest.replace(new RegExp(`^    ${key}:.*\\n(?: {5,}.*\\n)*`, 'm'), '')

/** Returns what a command line prints, errors included, as on a terminal. */
async function onTerminal(
  words: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<string> {
  let text = ''
  const output = { isTTY: false, write: (more: string) => (text += more) }
  await main(words, { stdout: output, stderr: output, readStdin: async () => new Uint8Array(), env, cwd })
  return text
}

function inShell(command: string, cwd: string, env: Readonly<Record<string, string>>): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile('sh', ['-c', command], { cwd, env, timeout: 240_000 }, (error, stdout, stderr) =>
      error ? reject(error) : resolve(stdout + stderr),
    )
  })
}
