import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { Reporter } from '../../diagnostics/reporter.ts'
import { didYouMean } from '../../diagnostics/suggest.ts'
import type { Span } from '../../text/source.ts'
import { get, isMap, isSeq, type MapTree, type Tree, withEntry } from '../../text/tree.ts'
import { scalarText } from '../../text/tree-text.ts'

const unknownSelection = diagnostic({
  code: 'project/unknown-service',
  severity: 'error',
  explain:
    'The command line, or `deploy.compose` in the manifest, names a service that the Compose files do not define.',
  text: (p: { name: string; known: readonly string[] }) => {
    const near = didYouMean(p.name, p.known)
    const names = p.known.map(name => `\`${name}\``).join(', ')
    return { message: `service \`${p.name}\` does not exist`, hint: near ?? (names && `the services are ${names}`) }
  },
})

const nothingActive = diagnostic({
  code: 'project/nothing-active',
  severity: 'warning',
  explain: `Every service has \`profiles\`, and none of them is active, so the result is empty. \`deploy\` then removes everything that an earlier deploy created.

\`\`\`sh
devctl render --profile dev
COMPOSE_PROFILES=dev devctl render
\`\`\``,
  text: (p: { profiles: readonly string[] }) => ({
    message: 'no service is active: every service has profiles, and none of them is enabled',
    hint: `add \`--profile ${p.profiles[0]}\`${p.profiles.length > 1 ? `; the profiles are ${p.profiles.map(name => `\`${name}\``).join(', ')}` : ''}`,
  }),
})

/** A model that contains only the selected services. */
export interface ProfileSelection {
  readonly model: MapTree
  /** The removed services. */
  readonly absent: ReadonlySet<string>
}

/**
 * Removes services whose profiles are all inactive. The profile `*` activates every service
 * (https://github.com/compose-spec/compose-spec/blob/main/15-profiles.md).
 */
export function applyProfiles(model: MapTree, profiles: readonly string[]): ProfileSelection {
  const active = new Set(profiles)
  return keepServices(model, service => {
    const own = get(service, 'profiles')
    if (!isSeq(own) || own.items.length === 0 || active.has('*')) return true
    return own.items.some(profile => profile.kind === 'scalar' && active.has(scalarText(profile)))
  })
}

/** Warns if the profiles remove all services. The warning is at the profiles of the first service. */
export function checkActive(model: MapTree, active: MapTree, reporter: Reporter): void {
  const [all, left] = [get(model, 'services'), get(active, 'services')]
  if (!isMap(all) || all.entries.size === 0 || !isMap(left) || left.entries.size > 0) return
  const profiles = [...all.entries.values()].flatMap(({ value }) => {
    const own = get(value, 'profiles')
    return isSeq(own) ? own.items.flatMap(profile => (profile.kind === 'scalar' ? [scalarText(profile)] : [])) : []
  })
  const [first] = all.entries.values()
  const place = isMap(first?.value) ? first.value.entries.get('profiles')?.key : first?.key
  reporter.report(nothingActive, place, { profiles: [...new Set(profiles)].sort() })
}

/** The services that the command line or the manifest names. */
interface NamedServices {
  readonly names: readonly string[]
  /** Positions of the names in the manifest. */
  readonly places: ReadonlyMap<string, Span> | undefined
  /** True if a service that the model lacks may exist, for example in a file that could not be read. */
  readonly mayExist: (name: string) => boolean
}

/**
 * Returns the profiles of the named services, because naming a service activates its profiles. Reports an unknown
 * service at its position in the manifest, or without a position if the command line names it.
 */
export function profilesOf(
  model: MapTree,
  { names, places, mayExist }: NamedServices,
  reporter: Reporter,
): readonly string[] {
  const services = get(model, 'services')
  const known = isMap(services) ? services.entries : new Map<string, never>()
  return names.flatMap(name => {
    const service = known.get(name)
    if (!service && !mayExist(name))
      reporter.report(unknownSelection, places?.get(name), { name, known: [...known.keys()] })
    const own = get(service?.value, 'profiles')
    return isSeq(own) ? own.items.flatMap(profile => (profile.kind === 'scalar' ? [scalarText(profile)] : [])) : []
  })
}

/** Keeps the named services and their direct and indirect dependencies. */
export function selectServices(model: MapTree, names: readonly string[]): ProfileSelection {
  const services = get(model, 'services')
  const wanted = new Set<string>()
  const queue = [...names]
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    if (wanted.has(name)) continue
    wanted.add(name)
    const dependencies = get(services, name, 'depends_on')
    if (isMap(dependencies)) queue.push(...dependencies.entries.keys())
  }
  return keepServices(model, (_, name) => wanted.has(name))
}

function keepServices(model: MapTree, keep: (service: Tree, name: string) => boolean): ProfileSelection {
  const services = get(model, 'services')
  if (!isMap(services)) return { model, absent: new Set() }
  const absent = new Set<string>()
  const entries = new Map(services.entries)
  for (const [name, { value }] of services.entries)
    if (!keep(value, name)) {
      absent.add(name)
      entries.delete(name)
    }
  return { model: absent.size === 0 ? model : withEntry(model, 'services', { ...services, entries }), absent }
}
