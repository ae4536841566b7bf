import type { Port, Project, Service, WatchExec } from '../../compiler/compose/project.ts'
import { Reporter } from '../../compiler/diagnostics/reporter.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { plainDevelopment } from '../../compiler/manifest/dev.ts'
import type { Development, Sync } from '../../compiler/manifest/development.ts'
import type { Forward } from '../../compiler/manifest/forward.ts'
import { reservedProblem } from '../../compiler/manifest/reserved-paths.ts'
import { SYNC_DEFAULTS } from '../../compiler/manifest/short-forms.ts'
import { planNames } from '../../compiler/plan/names.ts'
import type { Plan } from '../../compiler/plan/plan.ts'
import { shownPlace } from '../../compiler/text/source.ts'
import { ENVIRONMENT_LABEL, SERVICE_LABEL } from '../../environment/labels.ts'
import type { ActionRule } from '../files/watch-actions.ts'
import { type Candidate, nothingToSync, serviceNamed } from './candidates.ts'
import { type ComposeFolder, composeFolders, type FolderHost, watchPatterns } from './compose-folders.ts'

/** A development container with the additions from the Compose file. */
export interface ComposeDevelopment {
  readonly development: Development
  /** Name of the service in the Compose file. */
  readonly service: string
  /** Folders of `development.sync.folders`, in the same order. */
  readonly folders: readonly ComposeFolder[]
  /** Actions on changed files, besides synchronizing them. */
  readonly actions: readonly ActionRule[]
  /** True if the container runs the program of its service, and `up` shows its output instead of a shell. */
  readonly runsService: boolean
  /** Messages about paths that are not synchronized, with their positions. */
  readonly notes: readonly string[]
}

/**
 * Returns the development container of a service without a manifest: it synchronizes the folders of the service,
 * forwards the published ports, and runs the command of the service.
 */
export function developmentOf(
  candidate: Candidate,
  project: Project,
  plan: Plan,
  host: FolderHost,
): ComposeDevelopment {
  const { service, folders } = candidate
  const { span } = service
  const name = planNames(project, {}, new Reporter()).of(service.name)
  const plain = plainDevelopment(name, span)
  const workload = plan.workloads.find(({ pod }) => pod.services.includes(name))
  const { containers = [], init = [] } = workload?.pod ?? {}
  const container = [...containers, ...init.filter(({ sidecar }) => sidecar)].find(one => one.name === name)
  const label = (key: string, value: string) => ({ name: key, value, span })
  return {
    development: {
      ...plain,
      ...(container && {
        container: { value: container.name, span },
        imagePullPolicy: container.imagePullPolicy,
      }),
      // The name of a Job contains a hash, and services that share a Pod share the workload of one of them.
      selector: workload
        ? [label(ENVIRONMENT_LABEL, plan.environment.name), label(SERVICE_LABEL, workload.service)]
        : [],
      sync: syncOf(folders),
      forward: forwardsOf(service.ports),
    },
    service: service.name,
    folders,
    actions: actionsOf(service, host),
    runsService: true,
    notes: notesOf(candidate),
  }
}

/**
 * Completes a declared development container without `sync` with the host volumes and watch rules of its service.
 * Throws a UserError if the service has no folder.
 */
export function withHostVolumes(
  development: Development,
  candidate: Candidate,
  project: Project,
  host: FolderHost,
): ComposeDevelopment {
  const { service } = candidate
  if (candidate.folders.length === 0) throw nothingToSync(candidate, project)
  return {
    development: { ...development, sync: syncOf(candidate.folders) },
    service: service.name,
    folders: candidate.folders,
    actions: actionsOf(service, host),
    runsService: false,
    notes: notesOf(candidate),
  }
}

/**
 * Returns the service of a declared development container, with its folders: the service that `container` names, or
 * else the service with the name of the development container. Throws a UserError if there is none.
 */
export function declaredCandidate(development: Development, project: Project, host: FolderHost): Candidate {
  const service = serviceOf(development, project)
  return { service, ...composeFolders(service, host) }
}

/**
 * Returns the service that a declared development container replaces: the one that `container` names, or else the one
 * with the name of the development container; undefined if there is none.
 */
export function findService(
  { name, container }: Pick<Development, 'name' | 'container'>,
  project: Project,
): Service | undefined {
  return (container && serviceNamed(project, container.value)) ?? serviceNamed(project, name)
}

function serviceOf(development: Development, project: Project): Service {
  const { name, span } = development
  const found = findService(development, project)
  if (found) return found
  throw new UserError(`development container \`${name}\` has no \`sync\`, and no service has its name`, {
    notes: [shownPlace(span)],
    hint: 'add `sync: [".:/app"]`, or name it after a service whose host volumes are synchronized',
  })
}

/**
 * Returns the `sync` settings for the folders. Throws a UserError for a folder whose path in the container belongs to
 * the system or to devctl.
 */
function syncOf(folders: readonly ComposeFolder[]): Sync {
  for (const { span, remote } of folders) {
    const problem = reservedProblem(remote)
    if (problem) throw new UserError(problem, { place: span, hint: 'choose another path' })
  }
  return {
    folders: folders.map(({ span, local, remote, file }) => ({
      span,
      local,
      remote,
      ...(file !== undefined && { file }),
    })),
    ...SYNC_DEFAULTS,
  }
}

/**
 * Returns forwards for the published ports, which are the ports that users open: each local port once, and only TCP,
 * because the tunnel supports nothing else.
 */
function forwardsOf(ports: readonly Port[]): readonly Forward[] {
  const found = new Map<number, Forward>()
  for (const { span, target, protocol, published } of ports) {
    const localPort = published === undefined ? target : Number.parseInt(published, 10)
    if (protocol !== 'TCP' || found.has(localPort)) continue
    found.set(localPort, { span, localPort, remotePort: target })
  }
  return [...found.values()]
}

function actionsOf(service: Service, host: FolderHost): readonly ActionRule[] {
  return service.watch.flatMap((rule): readonly ActionRule[] => {
    const { action, exec } = rule
    if (action.value === 'sync') return []
    if (action.value === 'rebuild' && !service.build)
      throw new UserError(
        `service \`${service.name}\` has a watch rule with the action \`rebuild\`, and no \`build\``,
        {
          notes: [shownPlace(action.span)],
          hint: 'add `build` to the service, or write `action: sync+restart` with a `target`',
        },
      )
    const patterns = watchPatterns(rule, service, host)
    return [{ patterns, action: action.value, ...(action.value === 'sync+exec' && exec && { exec }) }]
  })
}

const notesOf = ({ service, problems }: Candidate): readonly string[] => [
  ...problems.map(({ span, text }) => `${shownPlace(span)}: ${text}`),
  ...service.watch.flatMap(({ action, exec }) =>
    action.value === 'sync+exec' && exec ? userNotes(exec, service) : [],
  ),
]

/**
 * Returns notes on the `user` and `privileged` settings of a command: Kubernetes always runs a command as the
 * container's user, with the container's privileges.
 */
function userNotes({ user, privileged, span }: WatchExec, service: Service): readonly string[] {
  const isOther = user !== undefined && user.value !== service.user?.value
  return [
    ...(isOther
      ? [`${shownPlace(user.span)}: the command runs as the user of the container, not as \`${user.value}\``]
      : []),
    ...(privileged && !service.privileged?.value
      ? [`${shownPlace(span)}: the command runs with the rights of the container, and is not privileged`]
      : []),
  ]
}
