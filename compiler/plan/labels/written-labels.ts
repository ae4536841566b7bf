import type { Pair, Project } from '../../compose/project.ts'

/** A label of a Compose file, with the element that it is written on. */
export interface WrittenLabel extends Pair {
  readonly on: 'service' | 'deploy' | 'pod' | 'volume' | 'mount' | 'config' | 'secret' | 'endpoints'
  /** The service that the label belongs to. */
  readonly service?: string
}

/**
 * Returns all labels of a project, grouped by the kind of element. Includes the `annotations` of services as labels of
 * the element `pod`.
 */
export function writtenLabels(project: Project): readonly WrittenLabel[] {
  const found: WrittenLabel[] = []
  const add = (on: WrittenLabel['on'], labels: readonly Pair[], service?: string) => {
    for (const label of labels) found.push({ ...label, on, ...(service !== undefined && { service }) })
  }
  for (const { name, labels, deploy, annotations, mounts } of project.services.values()) {
    add('service', labels, name)
    add('deploy', deploy.labels, name)
    add('pod', annotations, name)
    for (const mount of mounts) if (mount.type === 'volume') add('mount', mount.labels, name)
  }
  for (const { labels } of project.volumes.values()) add('volume', labels)
  for (const { labels } of project.configs.values()) add('config', labels)
  for (const { labels } of project.secrets.values()) add('secret', labels)
  add('endpoints', project.endpoints?.labels ?? [])
  return found
}
