import type { Project } from '../compose/project.ts'
import { diagnostic } from '../diagnostics/diagnostic.ts'
import type { Reporter } from '../diagnostics/reporter.ts'
import type { PlanOptions } from '../options.ts'
import { serviceNames, toDnsLabel, toServiceName } from './object-names.ts'
import type { Environment } from './plan.ts'

const renamed = diagnostic({
  code: 'names/renamed',
  severity: 'warning',
  explain: `The name of a Service in Kubernetes is a DNS label: at most 63 lower-case letters, digits and \`-\`, beginning with a letter. devctl changes other names to the nearest valid one, which peers must use.

\`\`\`yaml
services:
  my_db:     # becomes the host my-db
\`\`\`

Rename the service in the Compose file, so that Compose and Kubernetes use the same name.

A name of two labels, such as \`api.shop\`, that the file uses as a host is also the name of the Pod, and keeps leading to the service. Only its Service has another name.`,
  text: (p: { service: string; name: string; resolves: boolean }) =>
    p.resolves
      ? {
          message: `\`${p.service}\` cannot be the name of a Service in Kubernetes, which is \`${p.name}\`; as a host, it still leads to the service`,
          hint: `to use one name in Compose and Kubernetes, rename it to \`${p.name}\` here and where it is used`,
        }
      : {
          message: `\`${p.service}\` is not a valid host name in Kubernetes; the service is named \`${p.name}\``,
          hint: `rename it to \`${p.name}\` in the Compose file`,
        },
})

const reserved = diagnostic({
  code: 'names/reserved',
  severity: 'error',
  explain:
    'The namespace `default` contains the Service `kubernetes`, through which Pods reach the API server. A service with this name would replace it. Rename the service, or use another namespace.',
  text: () => ({
    message: 'the name `kubernetes` is reserved in the namespace `default`: it is the Service of the API server',
    hint: 'rename the service, or use another namespace',
  }),
})

/** The Kubernetes names of the Compose services. */
export interface Names {
  /**
   * Returns the Kubernetes name of a service of the project. The Service, the workload and the label of the service
   * have this name. The name of the workload is truncated if its kind has a shorter limit.
   */
  of(service: string): string
  /**
   * Returns true if the Kubernetes name of a service differs from its Compose name in more than case. Peers that use
   * the Compose name as a host cannot reach such a service.
   */
  isRenamed(service: string): boolean
  /** Returns true if a service of the project has this Kubernetes name. */
  isTaken(name: string): boolean
}

/** Returns the environment's name as a DNS label, and its namespace. */
export function planEnvironment(
  project: Pick<Project, 'name' | 'isNamed'>,
  options: Pick<PlanOptions, 'name' | 'fallbackName' | 'namespace'>,
): Environment {
  const given = options.name ?? (project.isNamed && project.name) ?? options.fallbackName ?? project.name
  return { name: toDnsLabel(given), ...(options.namespace !== undefined && { namespace: options.namespace }) }
}

/**
 * Assigns Kubernetes names to the services. Does not report renamed services: `reportRenamed` does this later, when it
 * is known which names with dots resolve.
 */
export function planNames(project: Project, { namespace }: Pick<PlanOptions, 'namespace'>, reporter: Reporter): Names {
  const names = serviceNames(project.services.keys())
  for (const [service, name] of names)
    if (name === 'kubernetes' && namespace === 'default')
      reporter.report(reserved, project.services.get(service)?.span, undefined)
  const taken = new Set(names.values())
  return {
    of: service => names.get(service) ?? toServiceName(service),
    isRenamed: service => names.get(service) !== service.toLowerCase(),
    isTaken: name => taken.has(name),
  }
}

/**
 * Reports services whose Kubernetes name differs from their Compose name. `resolves` returns true if the Compose name
 * of a service resolves to the service nevertheless.
 */
export function reportRenamed(
  { project, names, reporter }: { readonly project: Project; readonly names: Names; readonly reporter: Reporter },
  resolves: (service: string) => boolean,
): void {
  for (const { name: service, span } of project.services.values()) {
    const name = names.of(service)
    if (name !== service) reporter.report(renamed, span, { service, name, resolves: resolves(service) })
  }
}
