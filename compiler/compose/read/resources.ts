import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { At, Span } from '../../text/source.ts'
import { spanInside } from '../../text/span-inside.ts'
import type { MapTree, ScalarTree } from '../../text/tree.ts'
import { parseBytes } from '../../values/numbers/bytes.ts'
import { cpuQuantity, memoryQuantity, parseQuantity } from '../../values/numbers/quantity.ts'
import type { Parsed } from '../../values/parsed.ts'
import type { Resources } from '../project.ts'
import type { ReadContext } from './context.ts'
import { integer, scalar } from './tree-values.ts'

const badQuantity = diagnostic({
  code: 'resources/bad-quantity',
  severity: 'error',
  explain: `An amount of CPU or memory could not be parsed. There are two notations.

Kubernetes quantities, under \`resources\`: \`cpu: 500m\` is half a core, \`memory: 512Mi\` is 512 × 1024 × 1024 bytes.

Compose values, everywhere else: \`cpus: 0.5\` is half a core, \`mem_limit: 512m\` is 512 × 1024 × 1024 bytes.`,
  text: (p: { key: string; value: string; reason: string; hint?: string | undefined }) => ({
    message: `\`${p.key}\` is \`${p.value}\`: ${p.reason.replace(/^(?=is |has )/, 'it ')}`,
    hint: p.hint,
  }),
})

const negative = diagnostic({
  code: 'resources/negative',
  severity: 'error',
  explain: 'An amount of CPU or memory must not be negative. For no limit, remove the key.',
  text: (p: { key: string; value: string }) => ({
    message: `\`${p.key}\` is \`${p.value}\`: it must not be negative`,
    hint: 'for no limit, remove the key',
  }),
})

const partOfByte = diagnostic({
  code: 'resources/part-of-byte',
  severity: 'error',
  explain: `\`resources\` takes Kubernetes quantities, where the suffix \`m\` means thousandths: \`512m\` of memory is half a byte, and no container can start with it. In Compose keys (\`mem_limit\`, \`deploy.resources\`) \`512m\` means 512 mebibytes.

\`\`\`yaml
resources:
  limits:
    memory: 512m    # 0.512 bytes
    memory: 512Mi   # 512 mebibytes
\`\`\``,
  text: (p: { key: string; value: string }) => ({
    message: `\`${p.key}\` is \`${p.value}\`, which is not a whole number of bytes`,
    hint: `write \`${p.value.replace(/m$/, 'Mi')}\`: the suffix \`m\` means thousandths here`,
  }),
})

const conflict = diagnostic({
  code: 'resources/conflict',
  severity: 'error',
  explain:
    'Two keys set the same amount (`resources`, `deploy.resources`, or a key such as `cpus` and `mem_limit`) to different values. Keep one of them, or make them equal.',
  text: (p: { key: string; value: string; other: string; otherValue: string }) => ({
    message: `\`${p.key}\` is \`${p.value}\`, but \`${p.other}\` is \`${p.otherValue}\``,
    hint: 'remove one of the two',
  }),
})

const aboveLimit = diagnostic({
  code: 'resources/request-above-limit',
  severity: 'error',
  explain:
    'A request is what the node reserves for the container; a limit is the most that it may use. Kubernetes refuses a request above the limit. Lower the request, or raise the limit.',
  text: (p: { key: string; value: string; limit: string; limitKey: string }) => ({
    message: `\`${p.key}\` is \`${p.value}\`, above the limit \`${p.limit}\` in \`${p.limitKey}\``,
    hint: 'lower the request, or raise the limit',
  }),
})

const periodAlone = diagnostic({
  code: 'resources/period-alone',
  severity: 'warning',
  loss: true,
  explain:
    '`cpu_period` is the period for `cpu_quota`; alone it limits nothing. Kubernetes sets the period for all Pods of a node. The key is left out.',
  text: () => ({
    message: '`cpu_period` without `cpu_quota` has no equivalent and is left out',
    hint: 'use `cpus`',
  }),
})

/** An amount of CPU or memory, with the key that sets it. `milli` is in thousandths of a core or of a byte. */
interface Amount {
  readonly key: string
  readonly canonical: string
  readonly milli: bigint
  readonly span: Span
}

/**
 * Reads requests and limits from `resources`, `deploy.resources`, `cpus`, `cpu_quota`, `cpu_count`, `cpu_shares`,
 * `mem_limit`, `mem_reservation` and `storage_opt.size`. Zero means no limit. Reports contradicting amounts, and
 * requests above their limits.
 */
export function readResources(service: MapTree, context: ReadContext): Resources {
  const from = new Amounts(service, context)
  const cpuLimit =
    from.agreed([
      from.quantity('resources.limits.cpu'),
      from.cpus('deploy.resources.limits.cpus'),
      from.cpus('cpus'),
      from.quota(),
    ]) ?? from.cpus('cpu_count')
  const cpuRequest =
    from.agreed([from.quantity('resources.requests.cpu'), from.cpus('deploy.resources.reservations.cpus')]) ??
    from.shares(cpuLimit)
  const memoryLimit = from.agreed([
    from.quantity('resources.limits.memory'),
    from.bytes('deploy.resources.limits.memory'),
    from.bytes('mem_limit'),
  ])
  const memoryRequest = from.agreed([
    from.quantity('resources.requests.memory'),
    from.bytes('deploy.resources.reservations.memory'),
    from.bytes('mem_reservation'),
  ])
  from.checkAboveLimit(cpuRequest, cpuLimit)
  from.checkAboveLimit(memoryRequest, memoryLimit)
  return {
    limits: {
      cpu: toValue(cpuLimit),
      memory: toValue(memoryLimit),
      ephemeralStorage: toValue(from.bytes('storage_opt.size')),
    },
    requests: { cpu: toValue(cpuRequest), memory: toValue(memoryRequest) },
  }
}

const toValue = (amount: Amount | undefined): At<string> | undefined =>
  amount && { value: amount.canonical, span: amount.span }

/** True if the loader has already compared the two keys, such as `cpus` and `deploy.resources.limits.cpus`. */
const isComparedByLoader = (first: Amount, other: Amount): boolean =>
  first.key.startsWith('deploy.') && other.key !== 'cpu_quota'

/**
 * Reads the keys of a service that set an amount. Methods return undefined if a key is absent, zero, or invalid (which
 * is reported).
 */
class Amounts {
  readonly #service: MapTree
  readonly #reporter: ReadContext['reporter']

  constructor(service: MapTree, { reporter }: ReadContext) {
    this.#service = service
    this.#reporter = reporter
  }

  /** Reads a Kubernetes quantity from the service's `resources`, a key of devctl's Compose dialect. */
  quantity(key: string): Amount | undefined {
    const found = this.#scalar(key)
    const value = String(found?.value)
    const quantity = found && this.#good(key, found, parseQuantity(value))
    if (!found || !quantity) return undefined
    const isRequest = key.includes('.requests.')
    if (quantity.milli === 0n && !isRequest) return undefined
    if (key.endsWith('.memory') && quantity.milli % 1000n !== 0n) {
      this.#reporter.report(partOfByte, found.span, { key, value })
      return undefined
    }
    return this.#amount(key, found, quantity.canonical, quantity.milli)
  }

  /** Reads a decimal number of cores. */
  cpus(key: string): Amount | undefined {
    const found = this.#scalar(key)
    if (!found) return undefined
    const cores = this.#good(key, found, cpuQuantity(String(found.value)))
    return cores === undefined ? undefined : this.#fromQuantity(key, found.span, cores)
  }

  /** Reads a size in Compose's notation. */
  bytes(key: string): Amount | undefined {
    const found = this.#scalar(key)
    const bytes = found && this.#good(key, found, parseBytes(String(found.value)))
    if (!found || bytes === undefined || bytes === 0n) return undefined
    return this.#amount(key, found, memoryQuantity(bytes), bytes * 1000n)
  }

  /** Reads `cpu_quota`: CPU time in microseconds per `cpu_period` (default 100 ms). -1 means no limit. */
  quota(): Amount | undefined {
    const quota = integer(this.#service, 'cpu_quota')
    const written = integer(this.#service, 'cpu_period')
    if (written?.value && !quota) this.#reporter.report(periodAlone, written.span, undefined)
    const period = written?.value || 100_000
    if (!quota || quota.value <= 0 || period < 0) return undefined
    return this.#fromQuantity('cpu_quota', quota.span, `${Math.ceil((quota.value * 1000) / period)}m`)
  }

  /**
   * Reads `cpu_shares`, a weight, as a request. 1024 shares are one core, because Kubernetes uses the same ratio to
   * convert a request to a weight. The request is capped at the limit, because the weight reserves nothing in Compose.
   */
  shares(limit: Amount | undefined): Amount | undefined {
    const found = this.#scalar('cpu_shares')
    const shares = integer(this.#service, 'cpu_shares')
    if (!found || !shares || shares.value === 0) return undefined
    if (shares.value < 0) {
      this.#reporter.report(negative, found.span, { key: 'cpu_shares', value: String(shares.value) })
      return undefined
    }
    const request = this.#fromQuantity('cpu_shares', shares.span, `${Math.ceil((shares.value * 1000) / 1024)}m`)
    return request && limit && request.milli > limit.milli ? { ...limit, span: shares.span } : request
  }

  /**
   * Returns the first amount that is not undefined. Reports other amounts that differ from it, except amounts that the
   * loader has already compared (`load/checks/consistency.ts`).
   */
  agreed(given: readonly (Amount | undefined)[]): Amount | undefined {
    const [first, ...others] = given.filter(amount => amount !== undefined)
    for (const other of others) {
      if (first === undefined || other.milli === first.milli || isComparedByLoader(first, other)) continue
      this.#reporter.report(
        conflict,
        other.span,
        { key: other.key, value: other.canonical, other: first.key, otherValue: first.canonical },
        [{ span: first.span, message: `\`${first.key}\` is here` }],
      )
    }
    return first
  }

  checkAboveLimit(request: Amount | undefined, limit: Amount | undefined): void {
    if (!request || !limit || request.milli <= limit.milli) return
    const { key, canonical: value, span } = request
    this.#reporter.report(aboveLimit, span, { key, value, limit: limit.canonical, limitKey: limit.key }, [
      { span: limit.span, message: 'the limit is here' },
    ])
  }

  #scalar(key: string): ScalarTree | undefined {
    return scalar(this.#service, ...key.split('.'))
  }

  /** Returns the parsed value. Reports a value that is malformed or negative, and returns undefined. */
  #good<T>(key: string, found: ScalarTree, result: Parsed<T>): T | undefined {
    const value = String(found.value)
    // Only some parsers accept a sign, so negative values are checked here to get the same message for all of them.
    if (/^\s*-/.test(value) && Number.parseFloat(value) !== 0) {
      this.#reporter.report(negative, found.span, { key, value })
      return undefined
    }
    if (result.ok) return result.value
    const { reason, hint, start = 0, end = value.length } = result
    this.#reporter.report(badQuantity, spanInside(found, start, end), { key, value, reason, hint })
    return undefined
  }

  #fromQuantity(key: string, span: Span, quantity: string): Amount | undefined {
    const result = parseQuantity(quantity)
    if (!result.ok || result.value.milli === 0n) return undefined
    return { key, span, canonical: result.value.canonical, milli: result.value.milli }
  }

  #amount(key: string, { span }: ScalarTree, canonical: string, milli: bigint): Amount {
    return { key, canonical, milli, span }
  }
}
