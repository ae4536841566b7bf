import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder } from '../../support/cli/folder.ts'
import type { Env } from '../../support/git/git.ts'

/** A folder of hooks for a user's `core.hooksPath`: shell scripts by their names. */
export function makeHooks(scripts: Readonly<Record<string, string>>): string {
  const entries = Object.entries(scripts).map(([name, script]) => [name, `#!/bin/sh\n${script}\n`])
  const folder = makeFolder(Object.fromEntries(entries))
  for (const name of Object.keys(scripts)) chmodSync(join(folder, name), 0o755)
  return folder
}

/** An environment in which git has more configuration. */
export function withConfig(env: Env, config: Readonly<Record<string, string>>): Env {
  const first = Number(env['GIT_CONFIG_COUNT'] ?? 0)
  const entries = Object.entries(config)
  const own = entries.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${first + index}`, key],
    [`GIT_CONFIG_VALUE_${first + index}`, value],
  ])
  return { ...env, ...Object.fromEntries(own), GIT_CONFIG_COUNT: String(first + entries.length) }
}

/** Returns an environment in which git reads and writes another repository in place of the one with an address. */
export const withRepositoryAt = (address: string, other: string, env: Env = {}): Env =>
  withConfig(env, { [`url.${other}.insteadOf`]: address })
