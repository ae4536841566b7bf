import { createHash } from 'node:crypto'
import { didYouMean } from '../../compiler/diagnostics/suggest.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'

/** Keys that can change without a new container for the service. */
const NOT_HASHED = new Set(['build', 'depends_on', 'profiles', 'pull_policy', 'scale'])

/**
 * A line `SERVICE HASH` for each named service of a printed model, `*` for all, joined by commas. Throws a UserError
 * for a name it does not have.
 */
export function serviceHashes(model: unknown, names: string): string {
  const services = (model as { services?: Readonly<Record<string, Readonly<Record<string, unknown>>>> }).services ?? {}
  const known = Object.keys(services)
  const wanted = names === '*' ? known : names.split(',')
  return wanted
    .map(name => {
      const service = services[name]
      if (!service) {
        const hint = didYouMean(name, known) ?? `the services are ${known.map(one => `\`${one}\``).join(', ')}`
        throw new UserError(`service \`${name}\` does not exist`, { hint })
      }
      return `${name} ${hashOf(service)}\n`
    })
    .join('')
}

function hashOf(service: Readonly<Record<string, unknown>>): string {
  const kept = Object.fromEntries(Object.entries(service).filter(([key]) => !NOT_HASHED.has(key)))
  return createHash('sha256')
    .update(JSON.stringify(sorted(kept)))
    .digest('hex')
}

/** The order in which a file lists its keys is no part of the configuration. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]))
}
