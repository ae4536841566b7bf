import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Env, git, gitEnv, tryGit } from './git.ts'
import { historyStream, manifestFiles } from './history.mjs'
import type { Hooks } from './hooks.ts'

/** A repository that clients reach. */
export interface GitServer {
  /** Address for `git clone`. */
  readonly address: string
  /** The folder of the bare repository. */
  readonly repository: string
  /** Environment variables that a client needs to get access. */
  readonly env: Env
  /** Ends all connections and what serves them. */
  close(): Promise<void>
}

export interface RepositoryOptions {
  readonly branch?: string
  /** Files by path, or how many to make; without them and without commits the repository is empty. */
  readonly files?: Readonly<Record<string, string>> | number
  /** Number of commits of the branch. */
  readonly commits?: number
  readonly hooks?: Hooks
}

/** Makes the bare repository `repository.git` in a folder, reached by a `file://` address; `close` removes it. */
export async function bareRepository(
  folder: string,
  { branch = 'main', files = {}, commits, hooks = {} }: RepositoryOptions = {},
): Promise<GitServer> {
  const repository = join(folder, 'repository.git')
  await emptyRepository(repository, { branch })
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

const templates = new Map<boolean, Promise<string>>()

/** Makes a repository without commits in a folder: a copy of one that git has made, so that each costs no process. */
export async function emptyRepository(
  folder: string,
  { branch = 'main', isBare = true }: { branch?: string; isBare?: boolean } = {},
): Promise<void> {
  const template = templates.get(isBare) ?? makeTemplate(isBare)
  templates.set(isBare, template)
  cpSync(await template, folder, { recursive: true })
  writeFileSync(join(folder, 'HEAD'), `ref: refs/heads/${branch}\n`)
}

async function makeTemplate(isBare: boolean): Promise<string> {
  const folder = mkdtempSync(join(gitEnv()['HOME']!, 'template-'))
  await git(folder, 'init', '--quiet', ...(isBare ? ['--bare'] : []), folder)
  const made = isBare ? folder : join(folder, '.git')
  // Without the samples.
  installHooks(made, {})
  if (!isBare) return made
  await git(folder, 'config', 'uploadpack.allowFilter', 'true')
  // Nothing continues in the background after a push.
  await git(folder, 'config', 'receive.autogc', 'false')
  return made
}

/**
 * Returns the commit of a ref, as the files of a repository have it; undefined if there is none, or only git can find
 * it.
 */
export function readRef(gitFolder: string, name: string): string | undefined {
  const path = join(gitFolder, name)
  if (!existsSync(path)) return undefined
  const text = readFileSync(path, 'utf8').trim()
  return text.startsWith('ref: ') ? readRef(gitFolder, text.slice('ref: '.length)) : text
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

interface DirectCommit {
  readonly branch?: string
  readonly message?: string
  /** The targets of symbolic links by path. */
  readonly links?: Readonly<Record<string, string>>
}

/**
 * Adds a commit that writes files, or removes those without a text, to a branch of a bare repository, as if another
 * user had pushed it; returns its id.
 */
export async function commitDirectly(
  repository: string,
  files: Readonly<Record<string, string | undefined>>,
  { branch = 'main', message = 'somebody else', links = {} }: DirectCommit = {},
): Promise<string> {
  const ref = `refs/heads/${branch}`
  const parent =
    readRef(repository, ref) ?? (await tryGit(repository, ['rev-parse', '--verify', '--quiet', ref])).stdout
  const bytes = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`
  const input = [
    `commit refs/heads/${branch}\ncommitter Somebody Else <else@example.com> now\n${bytes(message)}`,
    parent === '' ? '' : `from ${parent.trim()}\n`,
    ...Object.entries(files).map(([path, text]) =>
      text === undefined ? `D ${JSON.stringify(path)}\n` : `M 100644 inline ${JSON.stringify(path)}\n${bytes(text)}`,
    ),
    ...Object.entries(links).map(([path, target]) => `M 120000 inline ${JSON.stringify(path)}\n${bytes(target)}`),
    'done\n',
  ].join('')
  const { status, stderr } = await tryGit(repository, ['fast-import', '--quiet', '--done', '--date-format=now'], {
    input,
  })
  if (status !== 0) throw new Error(`git fast-import: ${stderr}`)
  return readRef(repository, ref) ?? git(repository, 'rev-parse', ref)
}
