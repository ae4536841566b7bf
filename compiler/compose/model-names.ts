import { isMadeOfSecret, type SecretPlaces } from '../text/secret-places.ts'
import type { ScalarTree, Tree } from '../text/tree.ts'
import { scalarText } from '../text/tree-text.ts'
import { namesOfHost, namesOfImage, namesOfPath, namesOfVariable } from '../values/secrets/project-names.ts'
import { looksSecretName } from '../values/secrets/secret-names.ts'
import type { Loaded } from './load/loaded.ts'

/** Collections whose keys are names, at the top level and in services (`depends_on`, `networks`). */
const COLLECTIONS = ['services', 'networks', 'volumes', 'configs', 'secrets', 'models']

type NamesOf = (text: string) => readonly string[]
const asItIs: NamesOf = text => [text]

/** Keys whose values or items are names. */
const NAMING: ReadonlyMap<string, NamesOf> = new Map<string, NamesOf>([
  ...['image', 'tags', 'cache_from', 'cache_to'].map(key => [key, namesOfImage] as const),
  ...['container_name', 'hostname', 'domainname', 'host', 'x-host', 'aliases', 'dns_search'].map(
    key => [key, namesOfHost] as const,
  ),
  ...'working_dir source target path context dockerfile file tmpfs device subpath'
    .split(' ')
    .map(key => [key, namesOfPath] as const),
  ...['name', 'project', 'runtime'].map(key => [key, asItIs] as const),
  ['user', text => text.split(':')],
  // `HOST=ADDRESS`, `SERVICE:ALIAS`, `service:NAME`.
  ...['extra_hosts', 'links', 'external_links', 'network_mode', 'ipc', 'pid', 'volumes_from'].map(
    key => [key, (text: string) => text.split(/[:=]/)] as const,
  ),
])

/** Keys that may contain arbitrary values. */
const ANYTHING = new Set([
  'command',
  'entrypoint',
  'labels',
  'annotations',
  'content',
  'driver_opts',
  'options',
  'test',
])

/**
 * Returns the names in the loaded files: of services, volumes and other resources, images, users, hosts, paths and
 * databases. Leaves out names from secret values. The variables in `given` are secret only because of how they were
 * passed, so images, hosts and plain names from them are kept.
 */
export function modelNames(
  { name, directory, tree, absentServices, secrets }: Loaded,
  given: ReadonlySet<string>,
): readonly string[] {
  const names = new Set<string>([name, ...namesOfPath(directory), ...absentServices])
  for (const collection of COLLECTIONS) {
    const found = tree.entries.get(collection)?.value
    if (found?.kind === 'map') for (const key of found.entries.keys()) names.add(key)
  }
  for (const one of namesIn(tree, { secrets, given })) names.add(one)
  return [...names]
}

interface Origins {
  readonly secrets: SecretPlaces
  /** Variables that are secret because of how they were passed, whatever their names. */
  readonly given: ReadonlySet<string>
}

function* namesIn(tree: Tree, origins: Origins): Generator<string> {
  if (tree.kind === 'seq') for (const item of tree.items) yield* namesIn(item, origins)
  if (tree.kind !== 'map') return
  for (const [key, { value }] of tree.entries) {
    const namesOf = NAMING.get(key)
    if (key === 'environment' || key === 'args') yield* namesInVariables(value, origins)
    else if (namesOf)
      yield* publicTexts(value, namesOf === namesOfPath ? withoutGiven(origins) : origins).flatMap(namesOf)
    if (!ANYTHING.has(key) && !(key.startsWith('x-') && key !== 'x-host')) yield* namesIn(value, origins)
  }
}

function* namesInVariables(variables: Tree, origins: Origins): Generator<string> {
  if (variables.kind !== 'map') return
  for (const [name, { value }] of variables.entries)
    yield* publicTexts(value, withoutGiven(origins)).flatMap(text => namesOfVariable(name, text))
}

const withoutGiven = ({ secrets }: Origins): Origins => ({ secrets, given: new Set() })

/** Returns the text of a scalar, or the texts of the scalars in a list. Leaves out scalars that contain secrets. */
function publicTexts(tree: Tree, origins: Origins): readonly string[] {
  if (tree.kind === 'seq') return tree.items.flatMap(item => publicTexts(item, origins))
  return tree.kind === 'scalar' && isPublic(tree, origins) ? [scalarText(tree)] : []
}

function isPublic(scalar: ScalarTree, { secrets, given }: Origins): boolean {
  const isGiven = (name: string) => given.has(name) && !looksSecretName(name)
  if (isMadeOfSecret(scalar) && !scalar.variables?.every(({ name, isSecret }) => !isSecret || isGiven(name)))
    return false
  return [...secrets.within(scalar.span)].every(({ origin }) => isGiven(/^`([^`]+)`$/.exec(origin)?.[1] ?? ''))
}
