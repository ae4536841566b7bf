import { basename } from 'node:path/posix'
import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { Reporter } from '../../diagnostics/reporter.ts'
import { SecretPlaces } from '../../text/secret-places.ts'
import { SourceFile } from '../../text/source.ts'
import { type Entry, entry, mapTree, withEntry } from '../../text/tree.ts'
import type { Project } from '../project.ts'
import { reportAlteredScalars } from './checks/altered-scalars.ts'
import type { Loaded } from './loaded.ts'

const endpointsTwice = diagnostic({
  code: 'manifest/endpoints-twice',
  severity: 'warning',
  explain: `Both the manifest (\`deploy.endpoints\`) and a Compose file define \`endpoints\`. devctl uses the manifest's and ignores the Compose file's. Remove one of the two.`,
  text: (_: Record<never, never>) => ({
    message: "the `endpoints` of the Compose file are ignored: the manifest's replace them",
    hint: 'remove one of the two',
  }),
})

/**
 * Replaces the endpoints of the loaded files with the endpoints of the manifest, if it has any. Warns if the files have
 * endpoints, too, and about labels of the manifest that YAML rewrites.
 */
export function withManifestEndpoints(loaded: Loaded, endpoints: Entry | undefined, reporter: Reporter): Loaded {
  if (!endpoints) return loaded
  const own = entry(loaded.tree, 'endpoints')
  loaded.secrets.addFrom(endpoints.value)
  reportAlteredScalars(mapTree(endpoints.key, [['endpoints', endpoints]]), reporter)
  if (own)
    reporter.report(endpointsTwice, own.key, {}, [{ span: endpoints.key, message: 'the endpoints of the manifest' }])
  return { ...loaded, tree: withEntry(loaded.tree, 'endpoints', endpoints.value, endpoints.key) }
}

/** Creates a project without services. `directory` is absolute. */
export function emptyProject(directory: string): Project {
  const file = new SourceFile('', '')
  return {
    name: basename(directory),
    directory,
    services: new Map(),
    contextServices: new Map(),
    absentServices: new Set(),
    incompleteServices: [],
    networks: new Map(),
    volumes: new Map(),
    secrets: new Map(),
    configs: new Map(),
    endpoints: undefined,
    objects: [],
    tree: mapTree({ file, start: 0, end: 0 }, []),
    documents: [],
    secretPlaces: new SecretPlaces(),
  }
}
