import type { ContainerMount, ContainerPlan, PodPlan, WaitPlan } from '../../compiler/plan/plan.ts'
import { quote } from '../../compiler/values/shell-words.ts'
import { helperContainer, helperSecurity, type TakenNames, takeName } from './helper.ts'
import type { NewerVolume } from './newer-fields.ts'
import { busybox, type Tools } from './tools.ts'

type JobWait = Extract<WaitPlan, { kind: 'job' }>

/** Context for creating the wait containers of a Pod. */
export interface WaitContext {
  readonly taken: TakenNames
  readonly tools: Tools | undefined
  /** Name of the volume with the API server token; undefined if the Pod waits for no Job. */
  readonly tokenVolume: string | undefined
  /** Returns the name of a service's Job, which ends in a hash of the Job's content. */
  readonly jobName: (service: string) => string
}

/** Returns the init containers that delay a Pod until its dependencies are available, in the order of the plan. */
export function waitContainers(plan: PodPlan, context: WaitContext): ContainerPlan[] {
  const security = helperSecurity(plan)
  return plan.waits.map(wait => {
    const name = takeName(`wait-for-${wait.service}`, context.taken.containers)
    if (wait.kind === 'job') return jobWait(name, wait, context, security)
    return helperContainer({ name, image: wait.image, command: ['sh', '-c', loop(wait)], security })
  })
}

export function waitsForJob(plan: PodPlan): boolean {
  return plan.waits.some(({ kind }) => kind === 'job')
}

/**
 * Returns the shell loop of a wait. A connection through the Service waits for both the readiness and the port, because
 * a ClusterIP refuses connections while no Pod is ready. The name of a headless Service resolves only while a Pod is
 * ready. Many builds of busybox have no `-z` in `nc`, and their `nslookup` fails if any name of the search list fails,
 * so the loop checks its output.
 */
function loop(wait: Exclude<WaitPlan, JobWait>): string {
  const host = quote(wait.host)
  if (wait.kind === 'name')
    return `until nslookup ${host} 2>/dev/null | grep -q ^Name:; do echo "waiting for ${wait.host}"; sleep 1; done\n`
  const ports = wait.ports.join(' ')
  if (wait.ports.length === 1)
    return `until nc -w 2 ${host} ${ports} -e true; do echo "waiting for ${wait.host}:${ports}"; sleep 1; done\n`
  return `\
until for port in ${ports}; do nc -w 2 ${host} $port -e true && break; done; do
  echo "waiting for one of the ports of ${wait.host}"
  sleep 1
done
`
}

/**
 * Returns a container that waits for a Job with kubectl. The kubectl image has no shell, so the container uses the
 * tools.
 */
function jobWait(
  name: string,
  wait: JobWait,
  { tools, tokenVolume, jobName }: WaitContext,
  security: ContainerPlan['security'],
): ContainerPlan {
  if (!tools) throw new Error(`the Job of ${wait.service} is waited for without tools`)
  const job = `job/${jobName(wait.service)}`
  const token: ContainerMount[] = tokenVolume
    ? [{ volume: tokenVolume, path: '/var/run/secrets/kubernetes.io/serviceaccount', readOnly: true }]
    : []
  const mounts = [tools.mount, ...token]
  return helperContainer({ name, image: wait.image, command: [busybox, 'sh', '-c', jobLoop(job)], mounts, security })
}

/**
 * Returns the loop that waits for a Job. kubectl waits for only one condition, so the loop waits for completion in
 * intervals and checks for failure between them.
 */
function jobLoop(job: string): string {
  return `\
until kubectl wait --for=condition=complete --timeout=10s ${job}; do
  if kubectl wait --for=condition=failed --timeout=0s ${job} >/dev/null 2>&1; then
    echo "${job} failed; see: kubectl logs ${job}" >&2
    exit 1
  fi
  ${busybox} sleep 1
done
`
}

/**
 * Returns a volume with the token of the Pod's ServiceAccount. It has the same content as the volume that Kubernetes
 * mounts in all containers by default, but is mounted only in the containers that need it.
 */
export function toTokenVolume(name: string): NewerVolume {
  return {
    name,
    projected: {
      sources: [
        { serviceAccountToken: { path: 'token' } },
        { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        { downwardApi: { items: [{ path: 'namespace', fieldRef: { fieldPath: 'metadata.namespace' } }] } },
      ],
    },
  }
}
