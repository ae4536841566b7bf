import type { MapTree } from '../text/tree.ts'
import type { FamilyReader, PropertiesOf, ReadersOf } from './keys/key.ts'
import { loadedServiceKeys } from './keys/service.ts'
import type { Service } from './project.ts'
import type { ReadContext } from './read/context.ts'
import { checkTargets } from './read/storage/mount-targets.ts'

type Property = keyof Service
type Read = (service: MapTree, context: ReadContext, key: string) => unknown

/** Properties of `Service` that do not come from a key. */
type Own = 'name' | 'span' | 'tree'

/** Properties of `Service` that no row reads. If there are any, the next line does not compile. */
type Unread = Exclude<Property, Own | PropertiesOf<typeof loadedServiceKeys>>
const allRead: [Unread] extends [never] ? true : Unread = true

/** Reads a service in the canonical tree with the readers of its keys. Reports invalid values. */
export function readService(tree: MapTree, context: ReadContext): Service {
  const read: Partial<Record<Property, unknown>> = { name: context.service, span: context.span, tree }
  for (const [property, { reader, key }] of byProperty) read[property] = reader(tree, context, key)
  for (const family of families) Object.assign(read, family(tree, context))
  const service = read as unknown as Service // `allRead` says that every property has a reader
  checkTargets(service, context)
  return service
}

const byProperty = new Map<Property, { readonly reader: Read; readonly key: string }>()
const families = new Set<FamilyReader>()
// The keys of `ReadersOf<Service>` are properties of `Service`, so the cast below is safe.
for (const [key, { read }] of Object.entries(
  loadedServiceKeys as Readonly<Record<string, { read?: ReadersOf<Service> | FamilyReader }>>,
)) {
  if (typeof read === 'function') families.add(read)
  else for (const [property, reader] of Object.entries(read ?? {})) addReader(property as Property, reader, key)
}

function addReader(property: Property, reader: Read, key: string): void {
  const known = byProperty.get(property)
  if (!known) byProperty.set(property, { reader, key })
  else if (known.reader !== reader) throw new Error(`\`${known.key}\` and \`${key}\` both read ${property}`)
}

void allRead
