import { isScalar, type Tree } from '../text/tree.ts'

/** A key of Okteto manifests that devctl does not have. */
export interface AbsentKey {
  readonly says: string
  readonly hint?: string
  /** True if nothing is lost without the key. */
  readonly isHarmless?: boolean
}

const remote: AbsentKey = {
  says: 'devctl runs commands on the machine where it runs',
  hint: 'to run them in the cluster, use `devctl pipeline deploy`',
}
const image: AbsentKey = {
  says: 'devctl runs commands where it runs, without an image of their own',
  hint: 'install the programs that the commands need there, or use a service with `restart: "no"`',
}
const context: AbsentKey = {
  says: 'commands run in the folder of the manifest',
  hint: 'begin each command with `cd FOLDER &&`',
}
const localFiles: AbsentKey = {
  says: 'a development container has the image and files of the application',
  hint: 'add the image to `build` and name it in `image`',
}

/** Keys of Okteto manifests that devctl does not have, by path. `*` stands for any name. */
const ABSENT: ReadonlyMap<string, AbsentKey> = new Map<string, AbsentKey>([
  ['icon', { says: 'devctl shows no icons', isHarmless: true }],
  [
    'external',
    {
      says: 'devctl does not list external resources',
      hint: 'create them in a command of `deploy`, and write their addresses to the file in `$DEVCTL_ENV`',
    },
  ],
  [
    'test',
    {
      says: 'devctl has no test containers',
      hint: 'run the tests with `devctl exec`, in a command of `deploy`, or in your pipeline',
    },
  ],
  ['deploy.remote', remote],
  ['deploy.image', image],
  ['deploy.context', context],
  [
    'deploy.divert',
    { says: 'devctl does not divert traffic', hint: 'deploy the other services, too, with `dependencies`' },
  ],
  ['destroy.remote', remote],
  ['destroy.image', image],
  ['destroy.context', context],
  ['dev.*.context', { says: 'the context belongs to the whole manifest', hint: 'write `context` at the top level' }],
  [
    'dev.*.namespace',
    { says: 'the namespace belongs to the whole manifest', hint: 'write `namespace` at the top level' },
  ],
  ['dev.*.annotations', { says: 'it is an old name', hint: 'write `metadata: {annotations: …}`' }],
  ['dev.*.mountpath', { says: 'it is an old name', hint: 'write `sync: [".:PATH"]`' }],
  ['dev.*.push', localFiles],
  ['dev.*.docker', localFiles],
  ['dev.*.divert', { says: 'devctl does not divert traffic' }],
  ['dev.*.build', localFiles],
])

/** Present names of keys of a development container, by their old names. */
const OLD_NAMES: ReadonlyMap<string, string> = new Map([
  ['labels', 'selector'],
  ['healthchecks', 'probes'],
])

/**
 * Returns the present name of a key with an old name; undefined for other keys. Additional containers have a selector,
 * but no probes.
 */
export function presentName([section, , key, ...rest]: readonly string[]): string | undefined {
  if (section !== 'dev' || key === undefined) return undefined
  if (rest.length === 0) return OLD_NAMES.get(key)
  return key === 'services' && rest.length === 2 && rest[1] === 'labels' ? OLD_NAMES.get('labels') : undefined
}

/** Returns the explanation for a key of Okteto manifests that devctl does not have; undefined for other keys. */
export function absentKeys(path: readonly string[], value: Tree): AbsentKey | undefined {
  const [section, , ...rest] = path
  // An old list of files, which Okteto reads without any effect.
  if (path.join('.') === 'dev' && value.kind === 'seq')
    return { says: 'a list is an old form', hint: 'write a mapping of names to development containers' }
  const found = ABSENT.get(section === 'dev' && path.length > 1 ? ['dev', '*', ...rest].join('.') : path.join('.'))
  const isOff = isScalar(value) && value.value === false
  return found && isOff ? { ...found, isHarmless: true } : found
}
