import type { CharacterClass } from './glob.ts'
import type { PatternGraph, PatternNode } from './graph.ts'

/** Set of all positions in the patterns after reading a part of a path. */
interface State {
  readonly nodes: readonly PatternNode[]
  /** First rule that matches if the path ends here. */
  readonly rule: number | undefined
  /** First rule that matches from here on, whatever follows. */
  readonly settled: number | undefined
  /** True if no following character can change the rule. */
  readonly isFinal: boolean
  readonly next: (State | undefined)[]
  /** Next states for rare characters, for which the array `next` would be too sparse. */
  readonly nextOfRare: Map<number, State>
}

/** Rules for the paths below a folder. */
export interface Below {
  /** First rule that matches all paths below the folder. */
  readonly settled: number | undefined
  /** First including rule that may match some of the paths below the folder. */
  readonly including: number | undefined
}

const SLASH = 0x2f
/** First code point after the Latin letters. */
const RARE = 0x250
/** Maximum total number of nodes in the cached states. Once exceeded, the cache starts over. */
const LIMIT = 200_000
/** Maximum number of nodes of a cached state. For a larger state, a lookup would take as long as creating it. */
const TOO_MANY = 1000

/**
 * Finds the first rule for a path in one pass over its characters, for all patterns at once. States are created on
 * first use and cached, so most characters cost one array access.
 */
export class PatternMatcher {
  readonly #graph: PatternGraph
  #states = new Map<string, State>()
  #size = 0
  /** Number of the last search (`#mark`) that has found each node. The index is the id of the node. */
  readonly #marks: Uint32Array
  #mark = 0
  #start: State
  /**
   * Folder of the last path, and its state. Paths are checked folder by folder, so most paths start with the same
   * folder as the previous one.
   */
  #folder = ''
  #folderState: State

  constructor(graph: PatternGraph) {
    this.#graph = graph
    this.#marks = new Uint32Array(graph.size)
    this.#start = this.#state([graph.rooted, graph.floating], undefined)
    this.#folderState = this.#start
  }

  /** Returns the index of the first rule that matches; undefined if no rule matches. */
  match(path: string): number | undefined {
    const end = path.lastIndexOf('/') + 1
    return this.#walk(this.#below(path.slice(0, end)), path, end).rule
  }

  below(folder: string): Below {
    const { nodes, settled } = this.#below(`${folder}/`)
    let including = Infinity
    for (const { firstIncluding = Infinity } of nodes) including = Math.min(including, firstIncluding)
    return { settled, including: finite(including) }
  }

  #below(folder: string): State {
    if (folder !== this.#folder) {
      this.#folderState = this.#walk(this.#start, folder, 0)
      this.#folder = folder
    }
    return this.#folderState
  }

  #walk(start: State, path: string, from: number): State {
    let state = start
    for (let at = from; at < path.length && !state.isFinal; at++) {
      const code = path.codePointAt(at)!
      if (code > 0xffff) at++
      const known = code < RARE ? state.next[code] : state.nextOfRare.get(code)
      state = known ?? this.#step(state, code)
    }
    return state
  }

  #step(state: State, code: number): State {
    const reached: PatternNode[] = []
    for (const node of state.nodes) {
      const { stays, single } = node
      if (stays === 'globstar' || (stays === 'star' && code !== SLASH)) reached.push(node)
      if (single && code !== SLASH) reached.push(single)
      const literal = node.literals.get(code)
      if (literal !== undefined) reached.push(literal)
      for (const one of node.classes) if (has(one.class, code)) reached.push(one.next)
    }
    if (code === SLASH) reached.push(this.#graph.floating)
    const next = this.#state(reached, state.settled)
    if (next.nodes.length > TOO_MANY) return next
    if (code < RARE) state.next[code] = next
    else state.nextOfRare.set(code, next)
    return next
  }

  #state(reached: PatternNode[], before: number | undefined): State {
    const all = this.#closure(reached)
    let settled = before ?? Infinity
    for (const { stays, rule } of all) if (stays === 'globstar' && rule !== undefined) settled = Math.min(settled, rule)
    // Nodes that belong only to later rules can no longer decide.
    const nodes = settled === Infinity ? all : all.filter(({ first }) => first < settled)
    if (nodes.length > TOO_MANY) return this.#create(nodes, settled)
    const key = `${settled} ${nodes
      .map(({ id }) => id)
      .sort(ascending)
      .join()}`
    const known = this.#states.get(key)
    if (known) return known
    const state = this.#create(nodes, settled)
    this.#keep(key, state)
    return state
  }

  #create(nodes: readonly PatternNode[], settled: number): State {
    let rule = settled
    for (const node of nodes) if (node.rule !== undefined && node.rule < rule) rule = node.rule
    return {
      nodes,
      settled: finite(settled),
      rule: finite(rule),
      isFinal: nodes.length === 0 && this.#graph.floating.first >= settled,
      next: [],
      nextOfRare: new Map(),
    }
  }

  /** Returns the nodes without duplicates, and all nodes reached from them without reading a character. */
  #closure(nodes: PatternNode[]): readonly PatternNode[] {
    const found: PatternNode[] = []
    const mark = ++this.#mark
    const add = (node: PatternNode | undefined) => {
      if (node === undefined || this.#marks[node.id] === mark) return
      this.#marks[node.id] = mark
      found.push(node)
    }
    for (const node of nodes) add(node)
    for (const { star, globstar, ends } of found) {
      add(star)
      add(globstar)
      for (const end of ends) add(end)
    }
    return found
  }

  #keep(key: string, state: State): void {
    this.#size += state.nodes.length + 1
    if (this.#size > LIMIT) this.#forget()
    this.#states.set(key, state)
  }

  #forget(): void {
    this.#states = new Map()
    this.#size = 0
    this.#folder = ''
    this.#start = { ...this.#start, next: [], nextOfRare: new Map() }
    this.#folderState = this.#start
  }
}

const ascending = (a: number, b: number): number => a - b

const has = ({ not, ranges }: CharacterClass, code: number): boolean =>
  ranges.some(([low, high]) => low <= code && code <= high) !== not

const finite = (index: number): number | undefined => (index === Infinity ? undefined : index)
