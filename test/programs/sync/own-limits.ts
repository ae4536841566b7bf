import { spawnSync } from 'node:child_process'
import { lacks } from '../../support/lacks.ts'

/**
 * A program to run another one under, as root of a user namespace with its own mounts: `script` may set limits that
 * count there alone, and mount over folders.
 */
export const inNamespace = (script: string): readonly string[] => [
  'unshare',
  '--user',
  '--map-root-user',
  '--mount',
  'sh',
  '-c',
  `${script}\nexec "$@"`,
  'sh',
]

/** True if this machine has no such namespaces: the tests are left out. */
export const lacksNamespaces = lacks(
  'user namespaces',
  spawnSync('unshare', ['--user', '--map-root-user', '--mount', 'true']).status !== 0,
)

/** `max_inotify_watches`, or `max_inotify_instances`: as few as that for the program. */
export const limited = (what: 'watches' | 'instances', to: number): readonly string[] =>
  inNamespace(`echo ${to} > /proc/sys/user/max_inotify_${what} || exit 9`)
