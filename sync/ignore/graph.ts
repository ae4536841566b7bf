import type { CharacterClass, GlobToken } from './glob.ts'

// The patterns of an ignore file form one graph, which `matcher.ts` walks. Patterns with a common prefix share its
// nodes, so matching ten thousand file names costs no more than matching one. Patterns are not converted to regular
// expressions, because users could write patterns that take exponential time.

/** Position in the patterns, with the positions that can follow it. */
export interface PatternNode {
  readonly id: number
  /**
   * Set if the position is kept while characters are read: `star` for any character except `/`, `globstar` for any
   * character.
   */
  readonly stays: 'star' | 'globstar' | undefined
  readonly literals: Map<number, PatternNode>
  readonly classes: { readonly key: string; readonly class: CharacterClass; readonly next: PatternNode }[]
  single?: PatternNode
  /** Nodes for `*` and `**`. Like the nodes in `ends`, they are reached without reading a character. */
  star?: PatternNode
  globstar?: PatternNode
  readonly ends: PatternNode[]
  /** First rule whose pattern ends here. */
  rule?: number
  /** First rule with a pattern that passes through this node, and the first such rule that includes paths (`!`). */
  first: number
  firstIncluding?: number
}

export interface PatternRule {
  /** Position of the rule: the first matching rule decides. */
  readonly index: number
  readonly includes: boolean
}

export class PatternGraph {
  #count = 0
  /**
   * Start nodes of the patterns that match from the root of the folder, and of the patterns that match from any folder.
   */
  readonly rooted = this.#create()
  readonly floating = this.#create()

  /** Number of nodes in the graph. */
  get size(): number {
    return this.#count
  }

  /** Adds a pattern. Patterns must be added in the order of their rules. */
  add(start: PatternNode, tokens: readonly GlobToken[], rule: PatternRule): void {
    const alternatives: { readonly from: PatternNode; readonly to: PatternNode }[] = []
    let node = pass(start, rule)
    for (const token of tokens) {
      const inside = alternatives.at(-1)
      if (token.kind === 'open') alternatives.push({ from: node, to: pass(this.#create(), rule) })
      else if (token.kind === 'or' || token.kind === 'close') {
        node.ends.push(inside!.to)
        node = token.kind === 'or' ? inside!.from : alternatives.pop()!.to
      } else node = pass(this.#next(node, token), rule)
    }
    node.rule ??= rule.index
  }

  #next(node: PatternNode, token: GlobToken): PatternNode {
    switch (token.kind) {
      case 'literal':
        return addTo(node.literals, token.code, () => this.#create())
      case 'class':
        return this.#afterClass(node, token.class)
      case 'single':
        node.single ??= this.#create()
        return node.single
      case 'star':
        node.star ??= this.#create('star')
        return node.star
      default:
        node.globstar ??= this.#create('globstar')
        return node.globstar
    }
  }

  #afterClass(node: PatternNode, characterClass: CharacterClass): PatternNode {
    const key = JSON.stringify(characterClass)
    const known = node.classes.find(other => other.key === key)
    if (known) return known.next
    const next = this.#create()
    node.classes.push({ key, class: characterClass, next })
    return next
  }

  #create(stays?: 'star' | 'globstar'): PatternNode {
    return { id: this.#count++, stays, literals: new Map(), classes: [], ends: [], first: Infinity }
  }
}

function pass(node: PatternNode, rule: PatternRule): PatternNode {
  node.first = Math.min(node.first, rule.index)
  if (rule.includes) node.firstIncluding ??= rule.index
  return node
}

function addTo<K, V>(map: Map<K, V>, key: K, create: () => V): V {
  const known = map.get(key)
  if (known !== undefined) return known
  const value = create()
  map.set(key, value)
  return value
}
