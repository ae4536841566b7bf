import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Env, git, tryGit } from './git.ts'
import { historyStream, manifestFiles } from './history.mjs'
import type { Hooks } from './hooks.ts'

/** A repository that clients reach. */
export interface GitServer {
  /** What `git clone` takes. */
  readonly address: string
  /** The folder of the bare repository. */
  readonly repository: string
  /** What a client needs in its environment to be let in. */
  readonly env: Env
  /** Ends all connections and what serves them. */
  close(): Promise<void>
}

export interface RepositoryOptions {
  readonly branch?: string
  /** Files by path, or how many to make; without them and without commits the repository is empty. */
  readonly files?: Readonly<Record<string, string>> | number
  /** How many commits the branch has. */
  readonly commits?: number
  readonly hooks?: Hooks
}

/** Makes the bare repository `repository.git` in a folder, reached by a `file://` address; `close` removes it. */
export async function bareRepository(
  folder: string,
  { branch = 'main', files = {}, commits, hooks = {} }: RepositoryOptions = {},
): Promise<GitServer> {
  const repository = join(folder, 'repository.git')
  await git(folder, 'init', '--quiet', '--bare', `--initial-branch=${branch}`, repository)
  await git(repository, 'config', 'uploadpack.allowFilter', 'true')
  // Nothing runs on behind a push that has ended.
  await git(repository, 'config', 'receive.autogc', 'false')
  const byPath = typeof files === 'number' ? manifestFiles(files) : files
  const length = commits ?? Math.min(1, Object.keys(byPath).length)
  if (length > 0) {
    const input = historyStream({ branch, files: byPath, commits: length })
    const { status, stderr } = await tryGit(repository, ['fast-import', '--quiet', '--done'], { input })
    if (status !== 0) throw new Error(`git fast-import: ${stderr}`)
  }
  installHooks(repository, hooks)
  const close = async () => rmSync(repository, { recursive: true, force: true })
  return { address: pathToFileURL(repository).href, repository, env: {}, close }
}

/** Makes these the hooks of a bare repository, in place of those it had. */
export function installHooks(repository: string, hooks: Hooks): void {
  const folder = join(repository, 'hooks')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  for (const [name, script] of Object.entries(hooks)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}`)
    chmodSync(join(folder, name), 0o755)
  }
}

/** Adds a commit that writes files, or removes those without a text, to a branch of a bare repository, as if somebody else had pushed it; returns its id. */
export async function commitDirectly(
  repository: string,
  files: Readonly<Record<string, string | undefined>>,
  { branch = 'main', message = 'somebody else' }: { branch?: string; message?: string } = {},
): Promise<string> {
  const parent = await tryGit(repository, ['rev-parse', '--verify', '--quiet', `refs/heads/${branch}`])
  const bytes = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`
  const input = [
    `commit refs/heads/${branch}\ncommitter Somebody Else <else@example.com> now\n${bytes(message)}`,
    parent.status === 0 ? `from ${parent.stdout.trim()}\n` : '',
    ...Object.entries(files).map(([path, text]) =>
      text === undefined ? `D ${JSON.stringify(path)}\n` : `M 100644 inline ${JSON.stringify(path)}\n${bytes(text)}`,
    ),
    'done\n',
  ].join('')
  const { status, stderr } = await tryGit(repository, ['fast-import', '--quiet', '--done', '--date-format=now'], {
    input,
  })
  if (status !== 0) throw new Error(`git fast-import: ${stderr}`)
  return git(repository, 'rev-parse', `refs/heads/${branch}`)
}
