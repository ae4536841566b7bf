import { didYouMean } from '../../../diagnostics/suggest.ts'
import { knownKeys } from '../../../schema/describe.ts'
import type { ModelPath } from '../../../schema/model-path.ts'
import { shapeOf } from '../../../schema/row.ts'
import type { MapForm, Row, Shape } from '../../../schema/shape.ts'
import type { Tree } from '../../../text/tree.ts'
import { composeShape } from '../../keys/compose.ts'

/** Names from `docker run`, old Compose files and Kubernetes, with their Compose equivalents. */
const equivalents: Readonly<Record<string, string>> = {
  env: '`environment`',
  envs: '`environment`',
  args: '`command`, or `build.args`',
  memory: '`mem_limit`, or `deploy.resources.limits.memory`',
  mem: '`mem_limit`',
  cpu: '`cpus`',
  net: '`network_mode`',
  log_driver: '`logging.driver`',
  log_opt: '`logging.options`',
  workdir: '`working_dir`',
  cwd: '`working_dir`',
  mounts: '`volumes`',
  publish: '`ports`',
  affinity: '`deploy.placement.constraints`',
  nodeSelector: '`x-node-selector`',
  volume_driver: '`driver` of the volume at the top level',
}

/**
 * Returns the hint for an unknown key: the mapping it belongs in, its Compose equivalent, or the most similar known
 * key.
 */
export function hintForUnknown(key: string, value: Tree, form: MapForm, path: ModelPath): string | undefined {
  if (path.length === 0 && looksLikeService(value)) return `a service goes below \`services:\``
  const inside = belongsInside(key, form)
  if (inside !== undefined) return `\`${key}\` belongs in \`${inside}\``
  if (isOfAncestor(key, path)) return `\`${key}\` belongs further out: check the indentation`
  const near = didYouMean(key, knownKeys(form))
  if (near !== undefined) return near
  if (path[0] === 'services' && path.length === 2 && Object.hasOwn(equivalents, key))
    return `it is called ${equivalents[key]} here`
  return `remove it; keys of your own begin with \`x-\``
}

function looksLikeService(value: Tree): boolean {
  return value.kind === 'map' && (value.entries.has('image') || value.entries.has('build'))
}

/**
 * Finds the nested mapping, at most two levels deep, that defines the key: for `replicas`, returns `deploy`. Undefined
 * if no such mapping defines the key.
 */
function belongsInside(key: string, form: MapForm, depth = 2): string | undefined {
  if (Object.hasOwn(form.keys, key)) return undefined
  const children: [string, MapForm][] = []
  for (const [name, field] of Object.entries(form.keys)) {
    const map = shapeOf(field).map
    if (map && !map.others) children.push([name, map])
  }
  for (const [name, map] of children) if (Object.hasOwn(map.keys, key)) return name
  if (depth > 1)
    for (const [name, map] of children) {
      const inside = belongsInside(key, map, depth - 1)
      if (inside !== undefined) return `${name}.${inside}`
    }
  return undefined
}

/** True if an enclosing mapping defines the key. */
function isOfAncestor(key: string, path: ModelPath): boolean {
  let shape: Shape | undefined = composeShape
  for (const step of path) {
    const map: MapForm | undefined = shape?.map
    if (map && Object.hasOwn(map.keys, key) && map !== composeShape.map) return true
    if (map && typeof step === 'string') {
      const field: Row | Shape | undefined = Object.hasOwn(map.keys, step) ? map.keys[step] : map.others?.row
      shape = field && shapeOf(field)
    } else shape = shape?.list?.items
  }
  return false
}
