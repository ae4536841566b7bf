import type { Project, Service } from '../../compose/project.ts'
import type { Span } from '../../text/source.ts'

/** A service whose mounts another service also gets. */
interface Lender {
  readonly lender: Service
  readonly readOnly: boolean
  /** Position of the item of `volumes_from` that names the service. */
  readonly span: Span
}

/**
 * Returns the services that a service lists in `volumes_from`, each followed by the services that it lists itself,
 * recursively. Each service appears once.
 */
export function lendersOf({ services }: Pick<Project, 'services'>, service: Service): readonly Lender[] {
  const seen = new Set([service.name])
  const found: Lender[] = []
  // A stack replaces recursion, because a chain of lenders may be longer than the call stack allows. The next lender is
  // at the end.
  const open = named(service, false)
  for (let next = open.pop(); next; next = open.pop()) {
    const { readOnly, span } = next
    const lender = services.get(next.service)
    if (!lender || seen.has(lender.name)) continue
    seen.add(lender.name)
    found.push({ lender, readOnly, span })
    open.push(...named(lender, readOnly))
  }
  return found
}

/**
 * Returns the services in the `volumes_from` of a service, in reverse order. `readOnly` makes all their mounts
 * read-only.
 */
const named = ({ volumesFrom }: Service, readOnly: boolean) =>
  volumesFrom
    .map(({ value, span }) => {
      const lender = lenderOf(value)
      return { ...lender, span, readOnly: readOnly || lender.readOnly }
    })
    .reverse()

/** Parses an item of `volumes_from`: `SERVICE`, `SERVICE:ro` or `SERVICE:rw`. */
export function lenderOf(value: string): { readonly service: string; readonly readOnly: boolean } {
  const colon = value.lastIndexOf(':')
  const mode = value.slice(colon + 1)
  if (colon < 0 || (mode !== 'ro' && mode !== 'rw')) return { service: value, readOnly: false }
  return { service: value.slice(0, colon), readOnly: mode === 'ro' }
}
