import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Env, tryGit } from '../../support/git/git.ts'

/** The forms in which a text can stand somewhere: plain, in base64 at each of its three offsets, in a URL, in JSON. */
export function formsOf(secret: string): readonly string[] {
  const encoded = [0, 1, 2].map(offset => {
    const text = Buffer.from(`${'x'.repeat(offset)}${secret}`)
      .toString('base64')
      .replace(/=+$/, '')
    // The characters at both ends depend on the adjacent bytes.
    return text.slice(offset === 0 ? 0 : offset + 1, -1)
  })
  const all = [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1), ...encoded]
  return [...new Set(all)].filter(form => form.length >= 6)
}

/** Returns the first of the secrets that a text contains, in any form; undefined if it contains none. */
export function leakIn(text: string, secrets: readonly string[]): string | undefined {
  return secrets.find(secret => formsOf(secret).some(form => text.includes(form)))
}

/** Returns all content of a bare repository, reachable from a branch or not: files, trees, commit messages. */
export async function everythingIn(repository: string): Promise<string> {
  const { stdout } = await tryGit(repository, ['cat-file', '--batch-all-objects', '--batch', '--unordered'])
  return stdout
}

/** The texts of all files below a folder, with their names; empty where there is none. */
export function filesIn(folder: string, except: readonly string[] = []): string {
  if (!existsSync(folder)) return ''
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && !except.includes(entry.name))
    .map(entry => {
      const path = join(entry.parentPath, entry.name)
      return `${path}\n${readFileSync(path, 'latin1')}`
    })
    .join('\n')
}

/**
 * Returns an environment in which a hook checks each commit of a run from inside: it searches the clone, all of TMPDIR
 * and the command lines of all processes for the secrets, and writes what it finds into `found`, a line each. The file
 * `ran` shows that the hook ran.
 */
export function watched(folder: string, secrets: readonly string[], temporary: string): Watched {
  const hooks = join(folder, 'hooks')
  mkdirSync(hooks, { recursive: true })
  const needles = join(folder, 'needles')
  writeFileSync(needles, `${secrets.flatMap(formsOf).join('\n')}\n`)
  const [found, ran] = [join(folder, 'found'), join(folder, 'ran')]
  const script = [
    '#!/bin/sh',
    `grep -r -l -a -F -f '${needles}' . '${temporary}' >>'${found}' 2>/dev/null`,
    // A process for each command line would take seconds.
    `cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | grep -q -F -f '${needles}' && echo 'a command line' >>'${found}'`,
    `: >'${ran}'`,
    'exit 0',
  ]
  for (const name of ['pre-commit', 'post-commit', 'pre-push']) {
    writeFileSync(join(hooks, name), `${script.join('\n')}\n`)
    chmodSync(join(hooks, name), 0o755)
  }
  return {
    env: { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'core.hooksPath', GIT_CONFIG_VALUE_0: hooks },
    found: () => (existsSync(found) ? readFileSync(found, 'utf8') : ''),
    hasRun: () => existsSync(ran),
  }
}

export interface Watched {
  readonly env: Env
  found(): string
  hasRun(): boolean
}
