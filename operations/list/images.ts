import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { lastingContainers, templateOf } from '../../constructs/manifest.ts'
import { type EnvironmentInput, findWorkloads } from '../../containers/workloads/find-workloads.ts'
import { serviceOf } from '../../environment/plan/desired-state.ts'
import { runningPods } from '../../environment/status/service-pods.ts'
import type { OpenProject } from '../../project/opened-project.ts'
import type { OperationContext } from '../../project/session.ts'

export interface ImagesOfServicesInput extends EnvironmentInput {
  /** Services to list. If absent or empty, all services. */
  readonly services?: readonly string[] | undefined
}

/** Image of a container of a deployed service. */
export interface DeployedImage {
  readonly service: string
  readonly container: string
  /** Image reference in the workload. */
  readonly image: string
  /** Digests that the Pods of the workload run: several during a rollout, none if no Pod runs. */
  readonly digests: readonly string[]
}

/** Returns the images of the deployed services, sorted by service, with the digests that their Pods run. */
export async function deployedImages(
  world: OperationContext,
  input: ImagesOfServicesInput,
  project: OpenProject,
): Promise<readonly DeployedImage[]> {
  const { cluster, namespace, signal } = world.session
  const { known, chosen } = await findWorkloads(world, input, input.services ?? [], project)
  const rows = await Promise.all(
    chosen.map(async workload => {
      const lead = serviceOf(workload)!
      const pods = await runningPods(cluster, { environment: known.name, namespace, lead }, { signal })
      return imagesOf(workload).map(({ name, image }) => ({
        service: lead,
        container: name,
        image,
        digests: [...new Set(pods.flatMap(pod => digestOf(pod, name) ?? []))],
      }))
    }),
  )
  // A job has a CronJob for each of its schedules, all with the same containers.
  const distinct = new Map(rows.flat().map(row => [`${row.service} ${row.container} ${row.image}`, row]))
  return [...distinct].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
}

interface PodTemplate {
  readonly spec?: {
    readonly containers?: readonly { readonly name: string; readonly image?: string }[]
    readonly initContainers?: readonly { readonly name: string; readonly image?: string }[]
  }
}

/**
 * Returns the containers of a workload that keep running: those of its services, and sidecars. Each has its image.
 * Omits init containers that end before the services start.
 */
function imagesOf(workload: KubeObject): readonly { readonly name: string; readonly image: string }[] {
  const { spec = {} } = templateOf<PodTemplate>(workload) ?? {}
  return lastingContainers(spec).map(({ name, image = '' }) => ({ name, image }))
}

/**
 * Returns the digest of the image that a container runs; undefined if it is unknown. The kubelet reports the digest
 * with or without the name of the image.
 */
function digestOf({ status }: KubeObject, container: string): string | undefined {
  const { containerStatuses = [], initContainerStatuses = [] } = (status ?? {}) as {
    readonly containerStatuses?: readonly { readonly name: string; readonly imageID?: string }[]
    readonly initContainerStatuses?: readonly { readonly name: string; readonly imageID?: string }[]
  } // a Pod's status
  const found = [...containerStatuses, ...initContainerStatuses].find(({ name }) => name === container)
  return /sha256:[0-9a-f]{64}/.exec(found?.imageID ?? '')?.[0]
}
