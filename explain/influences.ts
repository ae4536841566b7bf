import type { Diagnostic } from '../compiler/diagnostics/diagnostic.ts'
import type { Compilation } from '../compiler/index.ts'
import type { PlanOptions } from '../compiler/options.ts'
import type { Plan } from '../compiler/plan/plan.ts'
import { formatPath } from '../compiler/schema/model-path.ts'
import type { MapTree } from '../compiler/text/tree.ts'
import type { Manifest } from '../constructs/manifest.ts'
import { pathText } from '../environment/plan/comparison.ts'
import { type Leaf, leavesOf } from './leaves.ts'
import { childrenOf, type ModelNode, nodesBelow, withChange } from './model-node.ts'
import { hasWords, isNamedByUser, otherValues } from './other-values.ts'
import type { PlanSetting } from './settings.ts'

/** Object of the application, with its values by path. */
export interface ShownObject {
  /** Name such as `deployment/web`. */
  readonly name: string
  readonly manifest: Manifest
  readonly leaves: ReadonlyMap<string, Leaf>
  /** Values as text by path, without the hashes in names of objects. */
  readonly texts: ReadonlyMap<string, string>
  /** Removes the hashes from names of objects. */
  readonly plain: (text: string) => string
  /** The object as JSON. */
  readonly print: string
}

/** Paths of objects that depend on a node, by the identity of the object. */
export type Influence = ReadonlyMap<string, ReadonlySet<string>>

/**
 * Finds the parts of objects that depend on nodes of the model and on settings of the environment. Each node is given
 * another value or removed, the result is compiled again, and its objects are compared with those of the unchanged
 * model. There is no separate table of effects, so an explanation cannot contradict the compiler.
 */
export class Influences {
  /** Objects of the unchanged model, by an identity without hashes. */
  readonly objects: ReadonlyMap<string, ShownObject>
  readonly #tree: MapTree
  readonly #withModel: NonNullable<Compilation['withModel']>
  readonly #toManifests: (plan: Plan) => readonly Manifest[]
  readonly #errors: ReadonlySet<string>
  readonly #known = new Map<string, Influence>()

  constructor(
    tree: MapTree,
    withModel: NonNullable<Compilation['withModel']>,
    toManifests: (plan: Plan) => readonly Manifest[],
  ) {
    this.#tree = tree
    this.#withModel = withModel
    this.#toManifests = toManifests
    const { plan, diagnostics } = withModel(tree)
    this.objects = byIdentity(toManifests(plan))
    this.#errors = new Set(errorsOf(diagnostics))
  }

  /** Returns the paths that depend on a node of the model. */
  ofNode(node: ModelNode): Influence {
    return this.#once(formatPath(node.path), () => this.#find(node))
  }

  /**
   * Returns the paths whose values a scalar determines: another value changes them. Excludes values that only vanish
   * together with the part of the object around them, such as a probe with all of its defaults.
   */
  determinedBy({ path, tree }: ModelNode): Influence {
    const values = tree.kind === 'scalar' ? otherValues(tree, path) : []
    const how = { keepsParts: true, allowsErrors: hasWords(path) }
    const variants = [...values, undefined].map(value => withChange(this.#tree, path, value))
    return this.#once(`value ${formatPath(path)}`, () =>
      unionOf(variants.map(one => () => this.#compare(one, undefined, how))),
    )
  }

  /**
   * Returns the paths that change if several scalars get other values at the same time. If only one of the scalars
   * changed, a path could keep its value because of the others.
   */
  ofAll(nodes: readonly ModelNode[]): Influence {
    const key = nodes.map(({ path }) => formatPath(path)).join(' ')
    return this.#once(`all ${key}`, () => this.#compare(this.#changedAt(nodes)) ?? NONE)
  }

  /**
   * Returns true if paths of an object do not depend on a node, which is a service or a key of one. Compiles two
   * changed models: all values in the node are changed, or the node (in a service, all removable keys) is removed. The
   * paths must keep their values in both. Returns false if a changed model is not valid.
   */
  isIndependent(node: ModelNode, id: string, wanted: ReadonlySet<string>): boolean {
    const scalars = [...nodesBelow(node)].filter(
      ({ tree, path }) => tree.kind === 'scalar' && !REFERENCES.has(path.at(-1)),
    )
    const removable =
      node.path.length === 2 ? childrenOf(node).filter(({ path }) => !REQUIRED.has(path.at(-1))) : [node]
    const removed = removable.reduce((tree, { path }) => withChange(tree, path, undefined), this.#tree)
    return [this.#changedAt(scalars), removed].every(variant => {
      const manifests = this.#variant(variant)
      return manifests !== undefined && this.#isKept(wanted, id, manifests)
    })
  }

  /** Returns true if the wanted paths of an object have the same values in the manifests of a changed model. */
  #isKept(wanted: ReadonlySet<string>, id: string, manifests: readonly Manifest[]): boolean {
    const before = this.objects.get(id)!
    const { kind, metadata } = before.manifest.object
    const isSame = ({ object }: Manifest) =>
      object.kind === kind && object.metadata.name === metadata.name && JSON.stringify(object) === before.print
    if (manifests.some(isSame)) return true
    const after = counterpart(id, before, this.objects, byIdentity(manifests))
    const texts = after && textsLike(before, after)
    return texts !== undefined && [...wanted].every(path => texts.get(path) === before.texts.get(path))
  }

  #changedAt(nodes: readonly ModelNode[]): MapTree {
    const change = (tree: MapTree, { path, tree: one }: ModelNode) =>
      withChange(tree, path, one.kind === 'scalar' ? otherValues(one, path)[0] : undefined)
    return nodes.reduce(change, this.#tree)
  }

  /** Returns the paths that depend on a setting of the environment. */
  ofSetting({ key, changes }: PlanSetting): Influence {
    return this.#once(`--${key}`, () => firstOf(changes.map(one => () => this.#compare(this.#tree, one))))
  }

  #find({ path, tree }: ModelNode): Influence {
    if (tree.kind !== 'scalar') {
      const removed = this.#compare(withChange(this.#tree, path, undefined))
      // A key that is required cannot be removed, but its members can have other values.
      const below = removed || path.length <= 2 ? [] : childrenOf({ path, tree })
      return removed ?? unionOf(below.map(child => () => this.ofNode(child)))
    }
    const values = otherValues(tree, path)
    const variants = [...values, undefined].map(value => withChange(this.#tree, path, value))
    const compared = variants.map(one => () => this.#compare(one))
    const found = firstOf(compared)
    // A name that the user chooses becomes part of the objects, too.
    if (isNamedByUser(path) && values.length > 0) return unionOf([() => found, () => compared.at(-1)!()])
    if (!hasWords(path)) return found
    // One of few words may be the default, or may mean the same as the next. Another service may not allow it.
    const source = formatPath(path.slice(0, 2))
    const own = (variant: MapTree) =>
      new Map(
        [...(this.#compare(variant, {}, { allowsErrors: true }) ?? [])].filter(([id]) =>
          isSourceOf(source, this.objects.get(id)!),
        ),
      )
    return unionOf([() => found, ...variants.map(one => () => own(one))])
  }

  #once(key: string, find: () => Influence): Influence {
    const known = this.#known.get(key)
    if (known) return known
    const found = find()
    this.#known.set(key, found)
    return found
  }

  /**
   * Returns the paths whose values differ or are missing if a changed model (`tree`), or changed options, are compiled;
   * undefined if the result is not valid.
   */
  #compare(tree: MapTree, options?: PlanOptions, { allowsErrors, keepsParts }: How = {}): Influence | undefined {
    const manifests = this.#variant(tree, options, allowsErrors)
    if (!manifests) return undefined
    const printed = new Map(manifests.map(one => [JSON.stringify(one.object), one]))
    const isSame = new Set([...this.objects.values()].flatMap(({ print }) => (printed.has(print) ? print : [])))
    const changed = [...printed].flatMap(([print, one]) => (isSame.has(print) ? [] : one))
    const objects = byIdentity(changed, withoutHashes(manifests))
    const found = new Map<string, Set<string>>()
    for (const [id, before] of this.objects) {
      if (isSame.has(before.print)) continue
      const after = counterpart(id, before, this.objects, objects)
      const texts = after && textsLike(before, after)
      const isKept = (path: string) =>
        texts !== undefined && (texts.has(path) || hasPart(texts, parentOf(before, path)))
      const paths = [...before.texts].flatMap(([path, text]) =>
        texts?.get(path) === text || (keepsParts && !isKept(path)) ? [] : [path],
      )
      if (paths.length > 0) found.set(id, new Set(paths))
    }
    return found
  }

  #variant(tree: MapTree, options?: PlanOptions, allowsErrors?: boolean): readonly Manifest[] | undefined {
    try {
      const { plan, diagnostics } = this.#withModel(tree, options)
      const isValid = allowsErrors || errorsOf(diagnostics).every(one => this.#errors.has(one))
      return isValid ? this.#toManifests(plan) : undefined
    } catch {
      // The loader checks references, and a variant may lack the other end of one: the compiler may then throw.
      return undefined
    }
  }
}

interface How {
  /** True to compare a changed model even if it has errors. */
  readonly allowsErrors?: boolean
  /** True to omit values that disappear from the changed model together with the mapping or list around them. */
  readonly keepsParts?: boolean
}

const parentOf = ({ leaves, plain }: ShownObject, path: string): string =>
  plain(pathText(leaves.get(path)!.keys.slice(0, -1)))

/** Returns true if an object has a value below a path. */
const hasPart = (texts: ReadonlyMap<string, string>, part: string): boolean =>
  part === '' || [...texts.keys()].some(path => path.startsWith(`${part}.`) || path.startsWith(`${part}[`))

/** True if the source of an object is the service or resource at `path`, or a key of it. */
export function isSourceOf(path: string, { manifest: { source } }: ShownObject): boolean {
  const own = source.slice(source.indexOf('#') + 1)
  return own === path || own.startsWith(`${path}.`) || own.startsWith(`${path}[`)
}

/** Keys without which a service is not valid. */
const REQUIRED = new Set<unknown>(['image', 'build'])

/** Keys whose values are names of other parts of the model. */
const REFERENCES = new Set<unknown>(['source', 'service', 'network_mode'])

const NONE: Influence = new Map()

/** Returns the first influence that is not empty; an empty influence if there is none. */
function firstOf(variants: readonly (() => Influence | undefined)[]): Influence {
  for (const variant of variants) {
    const found = variant()
    if (found && found.size > 0) return found
  }
  return NONE
}

/** Returns the union of all influences. */
function unionOf(variants: readonly (() => Influence | undefined)[]): Influence {
  const all = new Map<string, Set<string>>()
  for (const variant of variants)
    for (const [id, paths] of variant() ?? []) {
      const known = all.get(id) ?? new Set()
      for (const path of paths) known.add(path)
      all.set(id, known)
    }
  return all
}

const errorsOf = (diagnostics: readonly Diagnostic[]): readonly string[] =>
  diagnostics.filter(({ severity }) => severity === 'error').map(({ code, message }) => `${code} ${message}`)

/** Name that ends in a hash of the content. */
const HASHED = /^(.+)-[0-9a-f]{8}$/
const WITH_HASH = new Set(['ConfigMap', 'Secret', 'Job'])
const WORKLOADS = new Set(['Deployment', 'StatefulSet', 'DaemonSet', 'Job'])

/**
 * Returns the objects by kind and name, without hashes, and their values by path. The kind of a workload may change, so
 * it is not part of the identity.
 */
function byIdentity(
  manifests: readonly Manifest[],
  plain = withoutHashes(manifests),
): ReadonlyMap<string, ShownObject> {
  const found = new Map<string, ShownObject>()
  for (const manifest of manifests) {
    const { kind, metadata } = manifest.object
    const id = `${WORKLOADS.has(kind) ? 'workload' : kind}/${plain(metadata.name)}`
    const leaves = new Map([...leavesOf(manifest.object)].map(([path, leaf]) => [plain(path), leaf]))
    const texts = new Map([...leaves].map(([path, { value }]) => [path, plain(JSON.stringify(value))]))
    const name = `${kind.toLowerCase()}/${metadata.name}`
    found.set(found.has(id) ? `${id} ${manifest.source}` : id, {
      name,
      manifest,
      leaves,
      texts,
      plain,
      print: JSON.stringify(manifest.object),
    })
  }
  return found
}

/** Returns the values of a changed object as text, by the paths that the original object (`before`) has for them. */
function textsLike(before: ShownObject, after: ShownObject): ReadonlyMap<string, string> {
  const leaves = leavesOf(after.manifest.object, before.manifest.object)
  return new Map(
    [...leaves].map(([path, { value }]) => [before.plain(after.plain(path)), after.plain(JSON.stringify(value))]),
  )
}

/**
 * Returns a function that removes the hashes from names of objects, because every change of the content changes the
 * hashes.
 */
function withoutHashes(manifests: readonly Manifest[]): (text: string) => string {
  const hashed = manifests.flatMap(({ object: { kind, metadata } }) =>
    WITH_HASH.has(kind) && HASHED.test(metadata.name) ? [metadata.name] : [],
  )
  return text => hashed.reduce((rest, name) => rest.replaceAll(name, name.slice(0, -9)), text)
}

/**
 * Returns the object of a changed model that corresponds to an original object: the object with the same identity, else
 * the only new object with the same kind and source. Undefined if there is no such object, or if several new objects
 * match.
 */
function counterpart(
  id: string,
  { manifest }: ShownObject,
  before: ReadonlyMap<string, ShownObject>,
  after: ReadonlyMap<string, ShownObject>,
): ShownObject | undefined {
  const same = after.get(id)
  if (same) return same
  const renamed = [...after].filter(
    ([other, { manifest: one }]) =>
      !before.has(other) && one.source === manifest.source && one.object.kind === manifest.object.kind,
  )
  return renamed.length === 1 ? renamed[0]![1] : undefined
}
