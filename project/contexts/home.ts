import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

/** Process environment that decides where devctl and other tools keep their files. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Absolute path; relative paths of variables are resolved against it. */
  readonly cwd: string
  /** Called with the URL of the platform that a command works on, if it uses a login of this machine. */
  readonly onPlatform?: (url: string) => void
}

/** The absolute path of devctl's own folder: DEVCTL_HOME, else `.devctl` in the user's home. */
export function devctlHome({ env, cwd }: Surroundings): string {
  return env.DEVCTL_HOME ? resolve(cwd, env.DEVCTL_HOME) : join(userHome(env), '.devctl')
}

/** The absolute path of the user's home. */
export function userHome(env: Surroundings['env']): string {
  return env.HOME || homedir()
}
