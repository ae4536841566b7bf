import { createHash } from 'node:crypto'
import { didYouMean } from '../../compiler/diagnostics/suggest.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'

/** Keys of a service whose changes do not require a new container. */
const NOT_HASHED = new Set(['build', 'depends_on', 'profiles', 'pull_policy', 'scale'])

/**
 * Returns a line `SERVICE HASH` for each of the named services of a printed model. `names` is a comma-separated list,
 * or `*` for all services. Throws a UserError if the model does not have a named service.
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

/** Sorts the keys of mappings, because their order does not matter for the configuration. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]))
}
