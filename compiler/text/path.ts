/** Path of a node in a document: keys and list indexes. */
export type Path = readonly string[]

class RuleNode<T> {
  keys: Map<string, RuleNode<T>> | undefined
  any: RuleNode<T> | undefined
  rule: T | undefined
  /**
   * Step that consists of this node alone, created once: walks over large documents take most steps to a single node.
   */
  readonly step: RuleStep<T> = [this]
}

/**
 * Finds the rule for a path in time that does not depend on how many rules there are. A rule's
 * pattern is written `services.*.ports.*.target`, where `*` is any one key or index.
 */
export class PathRules<T> {
  readonly #root = new RuleNode<T>()

  constructor(rules: Iterable<readonly [string, T]>) {
    for (const [pattern, rule] of rules) {
      let node = this.#root
      for (const part of pattern.split('.')) {
        if (part === '*') node = node.any ??= new RuleNode()
        else {
          node.keys ??= new Map()
          let next = node.keys.get(part)
          if (!next) {
            next = new RuleNode()
            node.keys.set(part, next)
          }
          node = next
        }
      }
      node.rule = rule
    }
  }

  /** Start of a walk. */
  get start(): RuleStep<T> {
    return this.#root.step
  }

  /** The step below a key or index, or undefined when no rule is at or below it. */
  static below<T>(step: RuleStep<T> | undefined, key: string): RuleStep<T> | undefined {
    if (step === undefined) return undefined
    let found: RuleStep<T> | undefined
    for (const node of step) {
      const exact = node.keys?.get(key)
      if (exact) found = found ? [...found, exact] : exact.step
      if (node.any) found = found ? [...found, node.any] : node.any.step
    }
    return found
  }

  /** The rule at a step, the more exact pattern first. */
  static at<T>(step: RuleStep<T> | undefined): T | undefined {
    if (step !== undefined) for (const node of step) if (node.rule !== undefined) return node.rule
    return undefined
  }

  /** The step at a path from the start. */
  find(path: Path): RuleStep<T> | undefined {
    let step: RuleStep<T> | undefined = this.start
    for (const key of path) step = PathRules.below(step, key)
    return step
  }
}

/** All the rule nodes that a path has led to. */
export type RuleStep<T> = readonly RuleNode<T>[]
