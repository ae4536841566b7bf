import { Reporter } from '../../compiler/diagnostics/reporter.ts'
import { parseYaml } from '../../compiler/text/parse.ts'
import { SourceFile } from '../../compiler/text/source.ts'
import { get, isMap, isScalar, type Tree } from '../../compiler/text/tree.ts'
import type { ProjectFiles } from './project-files.ts'

/** A service whose files are on this machine: one that can be developed in the cluster as it is. */
export interface DevelopedService {
  readonly name: string
  /** As `LOCAL:REMOTE`. */
  readonly folders: readonly string[]
  /** As `LOCAL:REMOTE`, of the ports that are published. */
  readonly ports: readonly string[]
}

const NAMES = ['compose.yaml', 'compose.yml', 'docker-compose.yml', 'docker-compose.yaml'].flatMap(name => [
  name,
  `.devctl/${name}`,
])

export const findComposeFile = (files: ProjectFiles): string | undefined => NAMES.find(name => files.has(name))

/**
 * The services of a Compose file that have host folders, or rules of `develop.watch` that sync. It is only looked at: `devctl
 * validate` reads it. What has variables is passed over.
 */
export function developedServices(files: ProjectFiles, path: string): readonly DevelopedService[] {
  const [document] = parseYaml(new SourceFile(path, files.text(path) ?? ''), new Reporter()) ?? []
  const services = get(document?.tree, 'services')
  if (!isMap(services)) return []
  return [...services.entries].flatMap(([name, { value }]) => {
    const folders = [...hostFolders(value, files), ...watchedFolders(value)]
    const distinct = [
      ...new Map(folders.filter(one => !one.includes('$')).map(one => [one.slice(one.lastIndexOf(':')), one])).values(),
    ]
    return distinct.length === 0 ? [] : [{ name, folders: distinct, ports: publishedPorts(value) }]
  })
}

function hostFolders(service: Tree, files: ProjectFiles): readonly string[] {
  return items(get(service, 'volumes')).flatMap(volume => {
    const [source, target] = isMap(volume)
      ? get(volume, 'type') && textOf(get(volume, 'type')) !== 'bind'
        ? []
        : [textOf(get(volume, 'source')), textOf(get(volume, 'target'))]
      : (textOf(volume)?.split(':') ?? [])
    return isFolder(source, files) && target?.startsWith('/') && target !== '/' ? [`${source}:${target}`] : []
  })
}

/** A folder of the project: `./src`, not a file, a socket or a folder of the system. */
function isFolder(path: string | undefined, files: ProjectFiles): path is string {
  if (path === undefined || !/^\.\/?/.test(path) || path.startsWith('..')) return false
  const name = path.replace(/^\.\/?/, '').replace(/\/$/, '')
  if (name === '') return true
  const at = name.lastIndexOf('/')
  return files.names(name.slice(0, Math.max(at, 0)) || '.').includes(`${name.slice(at + 1)}/`)
}

function watchedFolders(service: Tree): readonly string[] {
  return items(get(service, 'develop', 'watch')).flatMap(rule => {
    const [action = '', path, target] = ['action', 'path', 'target'].map(key => textOf(get(rule, key)))
    return action.startsWith('sync') && path && target?.startsWith('/') ? [`${path}:${target}`] : []
  })
}

function publishedPorts(service: Tree): readonly string[] {
  return items(get(service, 'ports')).flatMap(port => {
    const [, published, target] = isMap(port)
      ? [undefined, textOf(get(port, 'published')), textOf(get(port, 'target'))]
      : (/^(?:.*:)?(\d+):(\d+)(?:\/tcp)?$/.exec(textOf(port) ?? '') ?? [])
    return published && target ? [`${published}:${target}`] : []
  })
}

const items = (tree: Tree | undefined): readonly Tree[] => (tree?.kind === 'seq' ? tree.items : [])
const textOf = (tree: Tree | undefined): string | undefined =>
  isScalar(tree) && tree.value !== null ? String(tree.value) : undefined
