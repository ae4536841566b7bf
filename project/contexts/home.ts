import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'

/** Process environment that determines where devctl and other tools keep their files. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Absolute path against which relative paths in variables are resolved. */
  readonly cwd: string
  /**
   * Called with the URL of the platform that a command works on, if the command uses a login stored on this machine.
   */
  readonly onPlatform?: (url: string) => void
}

/** Returns the absolute path of the folder with contexts, logins and the sealing key. */
export const configHome = (around: Surroundings): string => homeOf(around, 'XDG_CONFIG_HOME')

/** Returns the absolute path of the folder with the state of sessions, their logs, and the entries for SSH clients. */
export const stateHome = (around: Surroundings): string => homeOf(around, 'XDG_STATE_HOME')

/**
 * Returns all folders in which a process of devctl on this machine may keep its files, because other processes may have
 * been started with other environment variables.
 */
export function possibleHomes(around: Surroundings): readonly string[] {
  const { env } = around
  const set = XDG.flatMap(name => (isAbsolute(env[name] ?? '') ? [env[name]!] : []))
  const usual = ['.config', '.local/state'].map(path => join(userHome(env), path))
  const xdg = [...set, ...usual].map(path => join(path, 'devctl'))
  return [...new Set([configHome(around), stateHome(around), defaultHome(env), ...xdg])]
}

/**
 * Returns the environment variables that make a devctl process in any folder use the same configuration and state
 * folders.
 */
export function homeVariables({ env, cwd }: Surroundings): Readonly<Record<string, string>> {
  if (env.DEVCTL_HOME) return { DEVCTL_HOME: resolve(cwd, env.DEVCTL_HOME) }
  const set = XDG.flatMap(name => (isAbsolute(env[name] ?? '') ? [[name, env[name]!] as const] : []))
  return Object.fromEntries(set)
}

/** Returns the absolute path of the user's home. */
export function userHome(env: Surroundings['env']): string {
  return env.HOME || homedir()
}

const XDG = ['XDG_CONFIG_HOME', 'XDG_STATE_HOME'] as const

const defaultHome = (env: Surroundings['env']): string => join(userHome(env), '.devctl')

/**
 * Returns DEVCTL_HOME if it is set, otherwise the folder `devctl` in the folder that `variable` names, otherwise
 * `~/.devctl`. An existing `~/.devctl` stays in use until the user moves its files, which creates the folder `devctl`.
 * https://specifications.freedesktop.org/basedir-spec/latest/ (relative paths are invalid)
 */
function homeOf({ env, cwd }: Surroundings, variable: (typeof XDG)[number]): string {
  if (env.DEVCTL_HOME) return resolve(cwd, env.DEVCTL_HOME)
  const [base = '', own] = [env[variable], defaultHome(env)]
  if (!isAbsolute(base)) return own
  const wanted = join(base, 'devctl')
  return existsSync(wanted) || !existsSync(own) ? wanted : own
}
