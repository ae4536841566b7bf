import { type Entry, isMap, isSeq, type MapTree, scalarTree, type Tree, withEntry } from '../../text/tree.ts'
import { scalarText } from './tree-text.ts'

/** Puts Compose's own defaults where a canonical model says nothing (compose-spec.md 1.13). */
export function withDefaults(model: MapTree): MapTree {
  return update(model, 'services', services => updateAll(services, service))
}

function service(tree: Tree): Tree {
  let result = update(tree, 'build', build => set(build, 'context', '.'))
  result = update(result, 'secrets', secrets => updateAll(secrets, secret))
  result = update(result, 'ports', ports =>
    updateAll(ports, port => set(set(port, 'protocol', 'tcp'), 'mode', 'ingress')),
  )
  result = update(result, 'gpus', requests => updateAll(requests, deviceRequest))
  result = update(result, 'deploy', deploy =>
    update(deploy, 'resources', resources =>
      update(resources, 'reservations', reservations =>
        update(reservations, 'devices', devices => updateAll(devices, deviceRequest)),
      ),
    ),
  )
  return update(result, 'volumes', volumes =>
    updateAll(volumes, volume => update(volume, 'bind', bind => set(bind, 'create_host_path', true))),
  )
}

function secret(tree: Tree): Tree {
  const source = isMap(tree) ? tree.entries.get('source')?.value : undefined
  return source?.kind === 'scalar' ? set(tree, 'target', `/run/secrets/${scalarText(source)}`) : tree
}

const deviceRequest = (tree: Tree): Tree =>
  isMap(tree) && !tree.entries.has('count') && !tree.entries.has('device_ids') ? set(tree, 'count', 'all') : tree

function set(tree: Tree, key: string, value: string | boolean): Tree {
  return isMap(tree) && !tree.entries.has(key) ? withEntry(tree, key, scalarTree(tree.span, value)) : tree
}

function update<T extends Tree>(tree: T, key: string, change: (value: Tree) => Tree): T {
  const before = isMap(tree) ? tree.entries.get(key)?.value : undefined
  if (!before || !isMap(tree)) return tree
  const after = change(before)
  return after === before ? tree : (withEntry(tree, key, after) as Tree as T) // a map stays a map
}

/** Changes every value of a mapping, or every item of a list. */
function updateAll(tree: Tree, change: (value: Tree) => Tree): Tree {
  if (isSeq(tree)) return { ...tree, items: tree.items.map(change) }
  if (!isMap(tree)) return tree
  const entries = new Map<string, Entry>()
  for (const [key, { key: span, value }] of tree.entries) entries.set(key, { key: span, value: change(value) })
  return { ...tree, entries }
}
