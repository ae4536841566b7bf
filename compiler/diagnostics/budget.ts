import type { Span } from '../text/source.ts'

/** Limits of a compilation. Each piece of work is counted before it is done. */
export const LIMITS = {
  bytes: { most: 64 << 20, what: 'bytes of the files that are read' },
  loads: { most: 1_000, what: 'files that are brought in by `include`, and further documents of a file' },
  values: { most: 300_000, what: 'values that `extends` and `volumes_from` take over' },
  ports: { most: 70_000, what: 'ports that ranges stand for' },
  variables: { most: 200_000, what: 'variables of env files, counted for each service' },
  text: { most: 64 << 20, what: 'characters that variables are replaced by; each of them counts for 256 at least' },
  files: { most: 100_000, what: 'files of build contexts' },
  context: { most: 1 << 30, what: 'bytes of build contexts' },
  patterns: {
    most: 2_000,
    what: 'patterns of `.dockerignore` files; one of more than 100 characters counts for several',
  },
  output: { most: 32 << 20, what: 'characters of manifests' },
  seconds: { most: 60, what: 'seconds' },
} as const

export type LimitName = keyof typeof LIMITS

/** Thrown when a limit is exceeded, to stop a compilation that would take too long. */
export class OverBudget extends Error {
  readonly limit: LimitName
  readonly most: number
  readonly span: Span | undefined

  constructor(limit: LimitName, most: number, span: Span | undefined) {
    super(`more than ${most} ${LIMITS[limit].what}`)
    this.limit = limit
    this.most = most
    this.span = span
  }
}

/** The remaining budget of one compilation. */
export class Budget {
  readonly #most: Readonly<Record<LimitName, number>>
  readonly #spent = new Map<LimitName, number>()
  readonly #now: () => number
  readonly #began: number

  /**
   * Creates the budget. `raised` overrides default limits. Without `now` (a clock in milliseconds), time is not
   * limited.
   */
  constructor(raised: Partial<Readonly<Record<LimitName, number>>> = {}, now: () => number = () => 0) {
    const usual = Object.entries(LIMITS).map(([name, { most }]) => [name, most])
    this.#most = { ...Object.fromEntries(usual), ...raised }
    this.#now = now
    this.#began = now()
  }

  /** Returns a copy that has already spent the same amounts, except for time, which starts again. */
  copy(): Budget {
    const copy = new Budget(this.#most, this.#now)
    for (const [limit, amount] of this.#spent) copy.#spent.set(limit, amount)
    return copy
  }

  /**
   * Counts work that is about to be done for the text at `span`. Throws OverBudget if the total amount exceeds the
   * limit, or if the run takes too long.
   */
  spend(limit: LimitName, amount: number, span?: Span): void {
    const spent = (this.#spent.get(limit) ?? 0) + amount
    this.#spent.set(limit, spent)
    if (spent > this.#most[limit]) throw new OverBudget(limit, this.#most[limit], span)
    this.checkTime(span)
  }

  /** Throws OverBudget if the run takes too long. Called in loops over data that has already been read. */
  checkTime(span?: Span): void {
    if (this.#now() - this.#began > this.#most.seconds * 1000) throw new OverBudget('seconds', this.#most.seconds, span)
  }
}

const UNITS: Readonly<Record<string, number>> = { '': 1, k: 1 << 10, m: 1 << 20, g: 1 << 30 }

/** Parses limits such as `ports=200000,bytes=256m`. Returns the first invalid part as `wrong`. */
export function parseLimits(text: string): {
  readonly limits: Partial<Readonly<Record<LimitName, number>>>
  readonly wrong?: string
} {
  const limits: Partial<Record<LimitName, number>> = {}
  for (const part of text.split(/[\s,]+/).filter(one => one !== '')) {
    const [, name = '', digits = '', unit = ''] = /^([a-z]+)=(\d+)([kmg]?)i?b?$/i.exec(part) ?? []
    if (!Object.hasOwn(LIMITS, name)) return { limits, wrong: part }
    limits[name as LimitName] = Number(digits) * UNITS[unit.toLowerCase()]! // the pattern has no other units
  }
  return { limits }
}
