import { formatPath, type ModelPath } from '../compiler/schema/model-path.ts'
import type { FieldKey } from '../environment/plan/comparison.ts'
import { type DefaultRule, defaultRule } from './default-rules.ts'
import { type Explained, explainNode, influenceOf, type NodeExplanation } from './explain-node.ts'
import { isSourceOf, type ShownObject } from './influences.ts'
import { keyRule } from './key-rule.ts'
import { isBelow, type Leaf } from './leaves.ts'
import { childrenOf, isWorkload, type ModelNode, nodesBelow } from './model-node.ts'
import type { PlanSetting } from './settings.ts'
import { type SourceLine, sourceLine } from './source-line.ts'

/** Value of an object, and where it comes from. */
export interface FieldExplanation {
  /** Path in the object, such as `spec.replicas`. */
  readonly path: string
  readonly value: unknown
  /** Values of the Compose files that determine the object's value, the closest first. */
  readonly nodes: readonly Omit<NodeExplanation, 'becomes'>[]
  /** Settings of the environment that determine the object's value. */
  readonly settings: readonly FieldSetting[]
  /** Rule by which the object has the value, if neither a line nor a setting determines the value alone. */
  readonly rule?: DefaultRule
}

/** Setting of the environment, with its origin. */
export interface FieldSetting {
  readonly key: string
  readonly value: string
  /** Option, variable or default that sets the value; absent if `line` sets it. */
  readonly from?: string
  readonly line?: SourceLine
}

/** Explained compilation with the settings of its environment. */
export interface ExplainedSettings extends Explained {
  readonly settings: readonly PlanSetting[]
}

/** Explains the values of an object at or below a path. */
export function explainField(
  id: string,
  prefix: readonly FieldKey[],
  explained: ExplainedSettings,
): readonly FieldExplanation[] {
  const { influences, settings, loaded } = explained
  const object = influences.objects.get(id)!
  const wanted = new Map([...object.leaves].filter(([, { keys }]) => isBelow(keys, prefix)))
  const found = new Search(id, new Set(wanted.keys()), object, explained)
  return [...wanted].map(([plain, leaf]): FieldExplanation => {
    const direct = closestFirst(found.of(plain, leaf), leaf, found.owners)
    const own = settings.filter(one => influences.ofSetting(one).get(id)?.has(plain))
    const isCause = (node: ModelNode) =>
      node.tree.kind === 'scalar' &&
      (isNear(node, String(leaf.value)) || influences.determinedBy(node).get(id)?.has(plain) === true)
    const isSaid = direct.some(isCause) || (direct.length === 0 && own.length > 0)
    const nodes = direct.length > 0 || own.length > 0 ? direct : closestFirst(found.whole, leaf, found.owners)
    const rule = isSaid
      ? undefined
      : defaultRule(leaf, { object, owner: [...found.owners][0], within: nodes[0]?.path, model: loaded.tree })
    return {
      path: leaf.path,
      value: leaf.value,
      nodes: nodes.map(node => withRule(withoutObjects(explainNode(node, explained)), leaf, node.path)),
      settings: own.map(({ key, value, from, span }) => ({
        key,
        value,
        ...(from !== undefined && { from }),
        ...(span && { line: sourceLine(span, loaded.secrets) }),
      })),
      ...(rule && { rule }),
    }
  })
}

/**
 * Explains the field `kind` of an object with the rule of the closest key, `of` or a parent, whose text contains the
 * kind. Leaves other fields unchanged.
 */
function withRule<Node extends object>(node: Node, { path, value }: Leaf, of: ModelPath): Node {
  if (path !== 'kind') return node
  const rules = of.map((_, index) => keyRule(of.slice(0, of.length - index)))
  const rule = rules.find(one => one && `${one.becomes} ${one.note}`.includes(String(value)))
  return rule ? { ...node, rule } : node
}

const withoutObjects = ({ becomes: _, ...rest }: NodeExplanation): Omit<NodeExplanation, 'becomes'> => rest

/** Finds the nodes of the model that paths of one object depend on. */
class Search {
  /** Services of the object. */
  readonly owners: ReadonlySet<string>
  /** Nodes that the whole object depends on. */
  readonly whole: ModelNode[] = []
  readonly #leaves: ShownObject['leaves']
  readonly #found = new Map<string, ModelNode[]>()
  /** Nodes at any depth in the services and jobs of `owners`. */
  readonly #own: readonly ModelNode[]
  readonly #id: string
  readonly #explained: Explained

  constructor(id: string, wanted: ReadonlySet<string>, object: ShownObject, explained: Explained) {
    this.#id = id
    this.#leaves = object.leaves
    this.#explained = explained
    this.owners = ownersOf(object, explained)
    const sections = childrenOf({ path: [], tree: explained.loaded.tree })
    this.#own = [...nodesBelow({ path: [], tree: explained.loaded.tree })].filter(
      ({ path }) => isWorkload(path) && this.owners.has(String(path[1])),
    )
    for (const section of sections)
      for (const part of isNamed(section) ? childrenOf(section) : [section])
        if (!isWorkload(section.path) || this.#concerns(part, wanted))
          for (const key of isNamed(section) ? childrenOf(part) : [part])
            if (isWorkload(section.path) || !key.isImplied) this.#visit(key, wanted)
  }

  /**
   * Returns true if at least one of the wanted paths possibly depends on a node, which is a service or a key of a
   * service. Always true for nodes outside services and jobs.
   */
  #concerns(node: ModelNode, wanted: ReadonlySet<string>): boolean {
    const [, name] = node.path
    if (!isWorkload(node.path)) return true
    // Most keys of a service concern its own objects.
    if (this.owners.has(String(name)) && (wanted.size > FEW || node.path.length === 2)) return true
    return !this.#explained.influences.isIndependent(node, this.#id, wanted)
  }

  /** Returns the nodes that a path depends on. */
  of(path: string, leaf: Leaf): readonly ModelNode[] {
    return this.#found.get(path) ?? this.#sufficient(path, leaf)
  }

  /**
   * Returns the scalars with the value of a path that each keep the path at this value, even if all other scalars with
   * the value change. Empty if there are fewer than two such scalars.
   */
  #sufficient(path: string, { value }: Leaf): readonly ModelNode[] {
    const { influences } = this.#explained
    const has = (nodes: readonly ModelNode[]) => influences.ofAll(nodes).get(this.#id)?.has(path) ?? false
    const same = this.#own.filter(node => isNear(node, String(value)))
    if (same.length < 2 || !has(same)) return []
    return same.filter(node => !has(same.filter(one => one !== node)))
  }

  /**
   * Records a node for each path that depends on the node but on none of its members. Returns all paths that depend on
   * the node.
   */
  #visit(node: ModelNode, wanted: ReadonlySet<string>): ReadonlySet<string> {
    if (childrenOf(node).length > 0 && !this.#concerns(node, wanted)) return new Set()
    const own = influenceOf(node, this.#explained.influences).get(this.#id)
    const paths = new Set([...(own ?? [])].filter(path => wanted.has(path)))
    const below = new Set<string>()
    for (const child of childrenOf(node)) for (const path of this.#visit(child, wanted)) below.add(path)
    // Causes of the whole object do not determine its values, except those that the values contain.
    const isWhole = own !== undefined && own.size === this.#leaves.size
    const isSaid = (path: string) => !isWhole || isNear(node, String(this.#leaves.get(path)?.value))
    if (isWhole && (wanted.size > below.size || paths.size > 0)) this.whole.push(node)
    for (const path of paths) if (!below.has(path) && isSaid(path)) this.#add(path, node)
    return new Set([...paths, ...below])
  }

  #add(path: string, node: ModelNode): void {
    const known = this.#found.get(path)
    if (known) known.push(node)
    else this.#found.set(path, [node])
  }
}

/**
 * Kinds of objects that several services share if they have the same files, or wait for the same services. The source
 * of such an object names only one of the services.
 */
const SHARED = new Set(['ConfigMap', 'ServiceAccount', 'Role', 'RoleBinding'])

/**
 * Maximum number of wanted paths for which a key of the object's own service is first tested as a whole. For more paths
 * the test is skipped, because most keys then influence one of them.
 */
const FEW = 3

/** True if `text` contains `word` as a word: `tcp-8080` contains `8080`. */
const isWordOf = (word: string, text: string): boolean =>
  text === word || (word.length > 1 && text.split(/[^\w.]+/).includes(word))

/** True if the node is a scalar whose value is the text, or a word of the text. */
const isNear = ({ tree }: ModelNode, text: string): boolean =>
  tree.kind === 'scalar' && isWordOf(String(tree.value), text)

const NAMED = new Set<unknown>(['services', 'jobs', 'volumes', 'networks', 'secrets', 'configs'])
const isNamed = ({ path }: ModelNode): boolean => NAMED.has(path[0])

/**
 * Returns the services of an object: the services that it is written for, and the services whose containers its Pods
 * contain.
 */
function ownersOf(object: ShownObject, { loaded }: Explained): ReadonlySet<string> {
  const isShared = SHARED.has(object.manifest.object.kind)
  const workloads = childrenOf({ path: [], tree: loaded.tree }).filter(({ path }) => isWorkload(path))
  const sources = new Map(
    workloads.flatMap(childrenOf).map(({ path }) => [String(path[1]), isSourceOf(formatPath(path), object)]),
  )
  const isSource = (name: string) => sources.get(name) ?? false
  const containers = new Set(
    [...object.leaves.values()].flatMap(({ keys }) => keys.flatMap(key => (typeof key === 'object' ? key.item : []))),
  )
  return new Set(
    [...sources.keys()]
      .filter(name => isShared || isSource(name) || containers.has(name.toLowerCase()))
      .sort((a, b) => Number(isSource(b)) - Number(isSource(a))),
  )
}

/**
 * Sorts nodes: first scalars that are equal to the value, then scalars that contain the value or are part of it, then
 * other scalars, then mappings and lists. Among equals, nodes of the object's own services come first.
 */
function closestFirst(nodes: readonly ModelNode[], { value }: Leaf, owners: ReadonlySet<string>): readonly ModelNode[] {
  const text = String(value).toLowerCase()
  const rank = ({ path, tree, isImplied }: ModelNode): number => {
    const own = tree.kind === 'scalar' ? String(tree.value).toLowerCase() : undefined
    const isSame = own === text
    const isPart = own !== undefined && own !== '' && (text.includes(own) || own.includes(text))
    const isOwner = !isWorkload(path) || owners.has(String(path[1]))
    return (isSame ? 0 : isPart ? 3 : own !== undefined ? 6 : 9) + (isOwner ? 0 : 1) + (isImplied && !isSame ? 2 : 0)
  }
  return nodes.toSorted((a, b) => rank(a) - rank(b) || (formatPath(a.path) < formatPath(b.path) ? -1 : 1))
}
