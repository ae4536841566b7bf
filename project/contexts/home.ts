import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

/** Process environment that determines where devctl and other tools keep their files. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Absolute path against which relative paths in variables are resolved. */
  readonly cwd: string
  /** Called with the URL of the platform that a command works on, if it uses a login of this machine. */
  readonly onPlatform?: (url: string) => void
}

/** Returns the absolute path of devctl's own folder: DEVCTL_HOME, otherwise `.devctl` in the user's home. */
export function devctlHome({ env, cwd }: Surroundings): string {
  return env.DEVCTL_HOME ? resolve(cwd, env.DEVCTL_HOME) : join(userHome(env), '.devctl')
}

/** Returns the absolute path of the user's home. */
export function userHome(env: Surroundings['env']): string {
  return env.HOME || homedir()
}
