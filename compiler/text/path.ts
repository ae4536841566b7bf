/** Path of a node in a document: keys and list indices. */
export type Path = readonly string[]

/**
 * Step of a pattern that stands for any item of a list, but for no key of a mapping. Also the argument with which
 * `below` steps into the items of a list.
 */
export const ITEM = '[]'

/** Step of a pattern that stands for any key of a mapping, but for no item of a list. */
export const MEMBER = '{}'

class RuleNode<T> {
  keys: Map<string, RuleNode<T>> | undefined
  any: RuleNode<T> | undefined
  member: RuleNode<T> | undefined
  rule: T | undefined
  /**
   * The step that consists of this node alone. It is created only once, because most steps of a walk over a large
   * document have a single node.
   */
  readonly step: RuleStep<T> = [this]
}

/**
 * Finds the rule for a path in time that does not depend on the number of rules. The pattern of a rule has the form
 * `services.*.ports.*.target`, where `*` stands for any key or item, `{}` for any key, and `[]` for any item.
 */
export class PathRules<T> {
  readonly #root = new RuleNode<T>()

  constructor(rules: Iterable<readonly [string, T]>) {
    for (const [pattern, rule] of rules) {
      let node = this.#root
      for (const part of pattern.split('.')) {
        if (part === '*') node = node.any ??= new RuleNode()
        else if (part === MEMBER) node = node.member ??= new RuleNode()
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

  /** The first step of a walk. */
  get start(): RuleStep<T> {
    return this.#root.step
  }

  /** Returns the step below a key, or below the items of a list (`ITEM`); undefined if no rule is at or below it. */
  static below<T>(step: RuleStep<T> | undefined, key: string): RuleStep<T> | undefined {
    if (step === undefined) return undefined
    let found: RuleStep<T> | undefined
    for (const node of step) {
      const exact = node.keys?.get(key)
      if (exact) found = found ? [...found, exact] : exact.step
      if (node.member && key !== ITEM) found = found ? [...found, node.member] : node.member.step
      if (node.any) found = found ? [...found, node.any] : node.any.step
    }
    return found
  }

  /** Returns the rule at a step. More exact patterns take precedence. */
  static at<T>(step: RuleStep<T> | undefined): T | undefined {
    if (step !== undefined) for (const node of step) if (node.rule !== undefined) return node.rule
    return undefined
  }

  /** Returns the step at a path. */
  find(path: Path): RuleStep<T> | undefined {
    let step: RuleStep<T> | undefined = this.start
    for (const key of path) step = PathRules.below(step, key)
    return step
  }
}

/** All rule nodes whose patterns match the path so far. */
export type RuleStep<T> = readonly RuleNode<T>[]
