import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { write } from '../cli/folder.ts'
import { type Result, run } from '../run.ts'
import { type Env, git, gitEnv } from './git.ts'
import { bareRepository, emptyRepository, type GitServer, readRef } from './repository.ts'
import { filesAt } from './tree.ts'

/** An application of two services, in a repository of its own, and a GitOps repository. */
export interface Publishing {
  /** The source: a checkout with a Compose file and a manifest. */
  readonly source: string
  /** The GitOps repository, bare. */
  readonly server: GitServer
  /** `TMPDIR` of the runs. */
  readonly temporary: string
  readonly env: Env
  /** Runs `devctl publish --environment staging` with more words. */
  publish(...words: readonly string[]): Promise<Result>
  devctl(...words: readonly string[]): Promise<Result>
  /** Writes files of the source and commits them; gives the commit. */
  change(files: Readonly<Record<string, string>>, subject?: string): Promise<string>
  /** Returns the contents of the branch of the GitOps repository: texts by path. */
  tree(branch?: string): Promise<Readonly<Record<string, string>>>
  /** The commits of a branch, the newest first: subjects. */
  log(branch?: string): Promise<readonly string[]>
}

export const COMPOSE = `name: shop
services:
  web:
    image: nginx:1.27
    ports: ["8080:80"]
    depends_on: [cache]
  cache:
    image: redis:7
`

export const manifestFor = (repository: string, more = '') => `name: shop
environments:
  staging:
    namespace: shop-staging
    domain: staging.example.com
    repository: ${repository}
    branch: main
${more}`

/** Makes the two repositories in a temporary folder, which is removed when the test ends. */
export async function publishing({
  compose = COMPOSE,
  environment = '',
  server: given,
  manifest,
}: {
  readonly compose?: string
  /** More lines of the environment, with four blanks. */
  readonly environment?: string
  readonly server?: GitServer
  /** Writes a manifest for the address of the repository, in place of the one for `environment`. */
  readonly manifest?: (repository: string) => string
} = {}): Promise<Publishing> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'devctl-publishing-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const server = given ?? (await bareRepository(root))
  const text = manifest?.(server.address) ?? manifestFor(server.address, environment)
  return publishingFrom(root, server, { compose, manifest: text })
}

/** Creates the source in a folder; the caller removes it. */
export async function publishingFrom(
  root: string,
  server: GitServer,
  { compose, manifest }: { readonly compose: string; readonly manifest: string },
): Promise<Publishing> {
  const source = join(root, 'source')
  const temporary = join(root, 'tmp')
  mkdirSync(temporary)
  const env = { ...gitEnv(), ...server.env, TMPDIR: temporary }
  write(source, { 'compose.yaml': compose, 'devctl.yml': manifest })
  await emptyRepository(join(source, '.git'), { isBare: false })
  await commit('begin')
  return {
    source,
    server,
    temporary,
    env,
    publish: (...words) => devctl('publish', '--environment', 'staging', ...words),
    devctl,
    async change(files, subject = 'change') {
      write(source, files)
      return commit(subject)
    },
    async tree(branch = 'main') {
      const files = await filesAt(server.repository, branch)
      return Object.fromEntries(Object.entries(files).map(([path, text]) => [path, `${text}\n`]))
    },
    log: async (branch = 'main') => (await git(server.repository, 'log', '--format=%s', branch)).split('\n'),
  }

  function devctl(...words: readonly string[]): Promise<Result> {
    return run(words, { cwd: source, env })
  }

  async function commit(subject: string): Promise<string> {
    await git(source, 'add', '--all')
    await git(source, 'commit', '--quiet', '--allow-empty', '--message', subject)
    return readRef(join(source, '.git'), 'HEAD') ?? git(source, 'rev-parse', 'HEAD')
  }
}

/** The temporary copies that runs have left. */
export function leftIn(temporary: string): readonly string[] {
  return readdirSync(temporary).filter(name => name.startsWith('devctl-'))
}
