import { basename, dirname } from 'node:path/posix'
import { diagnostic } from '../diagnostics/diagnostic.ts'
import type { Reporter } from '../diagnostics/reporter.ts'
import type { ModelPath } from '../schema/model-path.ts'
import type { Span } from '../text/source.ts'
import {
  get,
  isMap,
  isScalar,
  isSeq,
  type MapTree,
  scalarTree,
  type Tree,
  withEntry,
  withoutKeys,
} from '../text/tree.ts'
import { toVariableName } from '../values/variable-name.ts'
import { reportOktetoCommands } from './okteto-commands.ts'
import { type AbsentKey, absentKeys, presentName } from './okteto-keys.ts'
import { reportOktetoVariables, withDevctlVariables } from './okteto-variables.ts'
import type { Reading } from './values.ts'

const absentKey = diagnostic<AbsentKey & { readonly path: string }>({
  code: 'okteto/key',
  severity: 'warning',
  explain: `An Okteto manifest has a key that devctl does not have. The rest of the manifest is read as it is. The message says how to get the same with devctl.`,
  // A group of warnings shows only the first hint, so the advice is part of the message.
  text: ({ path, says, hint }) => ({
    message: `\`${path}\` of an Okteto manifest has no effect: ${says}${hint === undefined ? '' : `; ${hint}`}`,
  }),
})
const harmlessKey = diagnostic<AbsentKey & { readonly path: string }>({
  code: 'okteto/unneeded-key',
  severity: 'info',
  explain: 'An Okteto manifest has a key that devctl does not have and does not need, such as `icon`. It is left out.',
  text: ({ path, says }) => ({ message: `\`${path}\` of an Okteto manifest is left out: ${says}` }),
})
const oldName = diagnostic({
  code: 'okteto/old-name',
  severity: 'info',
  explain:
    'An Okteto manifest has a key with an old name: `labels` of a development container is `selector`, and `healthchecks` is `probes`. It is read as the present one.',
  text: (p: { key: string; now: string }) => ({
    message: `\`${p.key}\` is an old name and is read as \`${p.now}\``,
    hint: `write \`${p.now}\``,
  }),
})
const singleContainer = diagnostic({
  code: 'okteto/single-container',
  severity: 'info',
  explain: `The manifest is in Okteto's first format, whose top level is one development container. devctl reads it as an entry of \`dev\`.

\`\`\`yaml
dev:
  api:
    sync: [".:/app"]
\`\`\``,
  text: (p: { name: string }) => ({
    message: `the manifest is in Okteto's first format and is read as \`dev.${p.name}\``,
    hint: 'to write it in this format, run `devctl migrate --write`',
  }),
})
const registryImage = diagnostic({
  code: 'okteto/image',
  severity: 'warning',
  explain: `\`okteto.dev\` and \`okteto.global\` are short names for the registry of an Okteto platform, which devctl does not know. An entry of \`build\` is pushed to the registry of devctl's environment instead, and a development container with the image of such an entry gets that image.`,
  text: (p: { image: string; instead: string }) => ({
    message: `\`${p.image}\` is in the registry of an Okteto platform; ${p.instead}`,
    hint: 'remove the key, or name an image in your registry',
  }),
})

/** A change to an entry of an Okteto manifest: a new value, or undefined to remove it. */
export interface OktetoChange {
  readonly path: ModelPath
  readonly value: string | undefined
}

/** A key of an Okteto manifest that has an old name: the position of the key, and its present name. */
export interface OktetoRename {
  readonly key: Span
  readonly name: string
}

/** An Okteto manifest as devctl reads it. */
export interface ReadOkteto {
  readonly tree: MapTree
  readonly changes: readonly OktetoChange[]
  /** Keys with old names, and their present names. */
  readonly renames: readonly OktetoRename[]
  /** Name of the development container, if the manifest is in Okteto's first format, which allows only one. */
  readonly only?: string
  /** Variables of Okteto that are not set, and have been reported. */
  readonly unset: ReadonlySet<string>
}

/** True if the name of a file is one that Okteto gives to its manifests, such as `okteto.yml`. */
export function isOktetoManifest(path: string): boolean {
  const name = basename(path)
  if (!/\.ya?ml$/.test(name) || /compose|stack/.test(name)) return false
  return name.startsWith('okteto') || basename(dirname(path)) === '.okteto'
}

/**
 * Converts an Okteto manifest to a manifest of devctl and reports each difference. Other parts stay as they are, with
 * their positions.
 */
export function readOkteto(
  tree: MapTree,
  path: string,
  { lookup, reporter }: Pick<Reading, 'lookup' | 'reporter'>,
): ReadOkteto {
  const only = nameOfOnly(tree, path)
  const whole = only === undefined ? tree : asSection(tree, only)
  if (only !== undefined) reporter.report(singleContainer, headOf(tree), { name: only })
  const kept = withoutAbsent(whole, reporter)
  const images = withoutRegistry(kept.tree, reporter)
  reportOktetoCommands(images.tree, reporter)
  return {
    tree: withDevctlVariables(images.tree),
    unset: reportOktetoVariables(images.tree, lookup, reporter),
    changes: [...kept.changes, ...images.changes],
    renames: kept.renames,
    ...(only !== undefined && { only }),
  }
}

const SECTIONS = ['build', 'deploy', 'destroy', 'dev', 'dependencies', 'external', 'test', 'services']
const OF_CONTAINER = ['image', 'command', 'sync', 'workdir', 'mountpath', 'reverse', 'persistentVolume', 'autocreate']
/** Keys of the first format that are about the whole manifest. */
const OF_MANIFEST = ['namespace', 'context', 'icon']

/** Returns the name of the only container of a manifest in Okteto's first format; undefined for other formats. */
function nameOfOnly(tree: MapTree, path: string): string | undefined {
  if (hasSection(tree) || !OF_CONTAINER.some(key => tree.entries.has(key))) return undefined
  const name = get(tree, 'name')
  if (isScalar(name) && typeof name.value === 'string' && name.value !== '') return name.value
  const folder = dirname(path)
  return basename(basename(folder) === '.okteto' ? dirname(folder) : folder)
}

/**
 * True if a manifest has a section. A list under `services` does not count, because in Okteto's first format it
 * contains additional containers.
 */
const hasSection = (tree: MapTree): boolean =>
  SECTIONS.some(key => tree.entries.has(key) && !(key === 'services' && get(tree, key)?.kind === 'seq'))

function asSection(tree: MapTree, name: string): MapTree {
  const key = headOf(tree)
  const container = withoutKeys(tree, 'name', ...OF_MANIFEST)
  const around = withoutKeys(tree, ...[...tree.entries.keys()].filter(one => !OF_MANIFEST.includes(one)))
  const dev: MapTree = { ...tree, entries: new Map([[name, { key, value: container }]]) }
  return withEntry(around, 'dev', dev, key)
}

const headOf = (tree: MapTree): Span => [...tree.entries.values()][0]?.key ?? tree.span

interface Changed {
  readonly tree: MapTree
  readonly changes: readonly OktetoChange[]
}

function withoutAbsent(tree: MapTree, reporter: Reporter): Changed & { readonly renames: readonly OktetoRename[] } {
  const changes: OktetoChange[] = []
  const renames: OktetoRename[] = []
  const walk = (node: Tree, path: readonly string[]): Tree => {
    if (!isMap(node)) return node
    const entries = new Map(node.entries)
    for (const [key, { key: span, value }] of node.entries) {
      const at = [...path, key]
      const absent = absentKeys(at, value)
      const now = presentName(at)
      if (now !== undefined && !node.entries.has(now)) {
        reporter.report(oldName, span, { key, now })
        renames.push({ key: span, name: now })
        entries.delete(key)
        entries.set(now, { key: span, value })
      } else if (absent) {
        reporter.report(absent.isHarmless ? harmlessKey : absentKey, span, { ...absent, path: at.join('.') })
        changes.push({ path: at, value: undefined })
        entries.delete(key)
      } else entries.set(key, { key: span, value: walkInto(value, at) })
    }
    return { ...node, entries }
  }
  // Additional containers, in `services`, have the same old names.
  const walkInto = (node: Tree, path: readonly string[]): Tree => {
    if (isSeq(node) && path.length === 3 && path[0] === 'dev' && path[2] === 'services')
      return { ...node, items: node.items.map((one, index) => walk(one, [...path, String(index)])) }
    return path.length < 3 ? walk(node, path) : node
  }
  return { tree: walk(tree, []) as MapTree, changes, renames } // a map stays a map
}

const REGISTRY = /^okteto\.(dev|global)\//

/**
 * Removes or replaces images in the registry of an Okteto platform. Removes the image names in `build`, because devctl
 * names built images itself. In `dev`, replaces an image that `build` produces with the variable of the built image,
 * and removes any other image.
 */
function withoutRegistry(tree: MapTree, reporter: Reporter): Changed {
  const changes: OktetoChange[] = []
  const built = new Map<string, string>()
  type Change = (name: string, image: string, span: Span) => string | undefined
  const edit = (section: string, change: Change): Tree => {
    const all = get(tree, section)
    if (!isMap(all)) return all ?? tree
    const withImage = (value: Tree, name: string, path: ModelPath): Tree => {
      const image = get(value, 'image')
      if (!isMap(value) || !isScalar(image) || typeof image.value !== 'string' || !REGISTRY.test(image.value))
        return value
      const instead = change(name, image.value, image.span)
      changes.push({ path: [...path, 'image'], value: instead })
      if (instead === undefined) return withoutKeys(value, 'image')
      return withEntry(value, 'image', scalarTree(image.span, instead))
    }
    const withServices = (value: Tree, name: string, path: ModelPath): Tree => {
      const services = section === 'dev' ? get(value, 'services') : undefined
      if (!isMap(value) || !isSeq(services)) return value
      const items = services.items.map((one, index) => withImage(one, name, [...path, 'services', index]))
      return withEntry(value, 'services', { ...services, items })
    }
    const entries = [...all.entries].map(([name, { key, value }]) => {
      const path = [section, name]
      return [name, { key, value: withServices(withImage(value, name, path), name, path) }] as const
    })
    return { ...all, entries: new Map(entries) }
  }
  const build = edit('build', (name, image, span) => {
    built.set(untagged(image), name)
    reporter.report(registryImage, span, { image, instead: 'devctl names the image itself' })
    return undefined
  })
  const dev = edit('dev', (_, image, span) => {
    const name = built.get(untagged(image))
    if (name !== undefined) return `\${DEVCTL_BUILD_${toVariableName(name)}_IMAGE}`
    reporter.report(registryImage, span, { image, instead: 'the image of the application is used' })
    return undefined
  })
  const withBuild = tree.entries.has('build') ? withEntry(tree, 'build', build) : tree
  return { tree: withBuild.entries.has('dev') ? withEntry(withBuild, 'dev', dev) : withBuild, changes }
}

const untagged = (image: string): string => image.replace(/:[^/]*$/, '')
