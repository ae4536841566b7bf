import { Reporter } from '../compiler/diagnostics/reporter.ts'
import { parseYaml } from '../compiler/text/parse.ts'
import { SourceFile } from '../compiler/text/source.ts'
import { get, isScalar, type Tree } from '../compiler/text/tree.ts'
import type { ProjectFiles } from './project-files.ts'

/** Deployment or StatefulSet in the manifests of a project. */
export interface FoundWorkload {
  readonly kind: string
  readonly name: string
  readonly image?: string
  readonly port?: number
}

/**
 * Returns the workloads in a manifest file, or in the manifest files of a folder. Skips files that are not YAML, such
 * as templates.
 */
export function findWorkloads(files: ProjectFiles, path: string): readonly FoundWorkload[] {
  const isFile = /\.ya?ml$/.test(path)
  const paths = isFile
    ? [path]
    : files
        .below(path)
        .sources(['.yaml', '.yml'])
        .map(name => `${path}/${name}`)
  return paths.flatMap(one => workloadsIn(one, files.text(one) ?? ''))
}

function workloadsIn(path: string, text: string): readonly FoundWorkload[] {
  const documents = parseYaml(new SourceFile(path, text), new Reporter()) ?? []
  return documents.flatMap(({ tree }) => {
    const kind = textOf(get(tree, 'kind'))
    const name = textOf(get(tree, 'metadata', 'name'))
    if ((kind !== 'Deployment' && kind !== 'StatefulSet') || name === undefined) return []
    const container = first(get(tree, 'spec', 'template', 'spec', 'containers'))
    const image = textOf(get(container, 'image'))
    const port = Number(textOf(get(first(get(container, 'ports')), 'containerPort')))
    return [{ kind, name, ...(image !== undefined && { image }), ...(port > 0 && { port }) }]
  })
}

const first = (tree: Tree | undefined): Tree | undefined => (tree?.kind === 'seq' ? tree.items[0] : undefined)
const textOf = (tree: Tree | undefined): string | undefined =>
  isScalar(tree) && tree.value !== null ? String(tree.value) : undefined
