import type { Cluster } from '../cluster/cluster.ts'
import { type Diagnostic, diagnostic } from '../compiler/diagnostics/diagnostic.ts'
import { Reporter } from '../compiler/diagnostics/reporter.ts'
import type { Span } from '../compiler/syntax/source.ts'
import { entry, get, type Tree } from '../compiler/syntax/tree.ts'
import type { WorkloadFailed } from './apply.ts'
import type { PodProblem } from './pod-problems.ts'

const imagePull = diagnostic({
  code: 'deploy/image-pull',
  severity: 'error',
  explain:
    'The node cannot pull the image of a container: the name or tag is wrong, the registry cannot be reached, or it wants credentials that the namespace does not have. Kubernetes goes on trying, so that pushing the image is enough; devctl stops waiting at once.',
  text: (p: { service: string; pod: string; detail: string }) => ({
    message: `the image of \`${p.service}\` cannot be pulled`,
    notes: [`pod ${p.pod}: ${p.detail}`],
    hint: 'check the name and tag; a private registry needs a pull secret in the namespace',
  }),
})
const crashLoop = diagnostic({
  code: 'deploy/crash-loop',
  severity: 'error',
  explain:
    'The container starts and ends, again and again. The last lines that it printed are below the message. Exit code 137 is a kill, most often for memory; 126 and 127 say that the command cannot be run or was not found. A container that ends with 0 has done its work: write `restart: "no"` to make it a Job.',
  text: (p: {
    service: string
    pod: string
    count: number
    exitCode: number
    reason: string | undefined
    lines: readonly string[]
  }) => ({
    message: `\`${p.service}\` ended ${p.count} times${p.exitCode === 0 ? ' without an error' : ` with exit code ${p.exitCode}`}${p.reason === 'OOMKilled' ? ', killed for its memory' : ''}`,
    notes: p.lines.length > 0 ? [`last lines of pod ${p.pod}:`, ...p.lines] : [`pod ${p.pod} printed nothing`],
    hint: p.exitCode === 0 ? 'a service that does its work and ends is a Job: write `restart: "no"`' : undefined,
  }),
})
const configuration = diagnostic({
  code: 'deploy/configuration',
  severity: 'error',
  explain:
    'The container cannot be made: a Secret or ConfigMap that it needs is not there, its command does not exist in the image, or a mount does not fit. External `configs` and `secrets` have to be in the namespace before the deploy.',
  text: (p: { service: string; pod: string; detail: string }) => ({
    message: `a container of \`${p.service}\` cannot be made`,
    notes: [`pod ${p.pod}: ${p.detail}`],
  }),
})
const unschedulable = diagnostic({
  code: 'deploy/unschedulable',
  severity: 'error',
  explain:
    'No node takes the Pod: too little memory or cpu is free for its requests, its node selector fits none, or a claim cannot be bound. The message of the scheduler tells which nodes failed for what.',
  text: (p: { service: string; pod: string; detail: string }) => ({
    message: `no node takes \`${p.service}\``,
    notes: [`pod ${p.pod}: ${p.detail}`],
    hint: 'lower its requests, change its node selector, or make room',
  }),
})
const failed = diagnostic({
  code: 'deploy/failed',
  severity: 'error',
  explain:
    'A Job has failed, or a workload made no progress within its deadline. The last lines that the Pod printed are below the message. Deploy again when it is mended: a failed Job is made anew.',
  text: (p: { service: string; status: string; lines: readonly string[] }) => ({
    message: `\`${p.service}\` has failed`,
    notes: [p.status, ...p.lines],
  }),
})

/** Lines of a log that are shown. */
const TAIL = 20

/** Says why a workload does not start, at the line of the Compose file that it came from, with the last lines of its log. */
export async function explainFailure(
  cluster: Cluster,
  failure: WorkloadFailed,
  services: Tree | undefined,
): Promise<readonly Diagnostic[]> {
  const { workload, tracked } = failure
  const reporter = new Reporter()
  const key = workload.source.split('#services.')[1] ?? workload.service
  const place = entry(services, key)?.key
  const { service } = workload
  const namespace = workload.object.metadata.namespace ?? ''
  const lines = (problem: Pick<PodProblem, 'pod' | 'container'>, previous: boolean) =>
    problem.container === undefined ? [] : lastLines(cluster, problem.pod, namespace, problem.container, previous)
  for (const problem of tracked.problems) {
    const { pod, detail, ends } = problem
    switch (problem.code) {
      case 'image-pull':
        reporter.report(imagePull, spanOf(get(services, key, 'image')) ?? place, { service, pod, detail })
        break
      case 'configuration':
        reporter.report(configuration, place, { service, pod, detail })
        break
      case 'unschedulable':
        reporter.report(unschedulable, place, { service, pod, detail })
        break
      case 'crash-loop': {
        const { count = 0, exitCode = 0, reason } = ends ?? {}
        reporter.report(crashLoop, place, { service, pod, count, exitCode, reason, lines: await lines(problem, true) })
      }
    }
  }
  if (tracked.problems.length === 0) {
    const pod = tracked.pods.at(-1)
    const container = pod && firstContainer(pod)
    reporter.report(failed, place, {
      service,
      status: tracked.status.text,
      lines: pod ? await lines({ pod: pod.metadata.name, container }, false) : [],
    })
  }
  return reporter.diagnostics()
}

const spanOf = (tree: Tree | undefined): Span | undefined => tree?.span

function firstContainer(pod: { readonly [field: string]: unknown }): string | undefined {
  const { containers = [] } = (pod['spec'] ?? {}) as { readonly containers?: readonly { readonly name: string }[] } // a Pod's spec
  return containers[0]?.name
}

/** The end of a container's log; nothing where there is none any more. */
async function lastLines(
  cluster: Cluster,
  name: string,
  namespace: string,
  container: string,
  previous: boolean,
): Promise<readonly string[]> {
  const found: string[] = []
  try {
    const signal = AbortSignal.timeout(5000)
    for await (const line of cluster.logs({ name, namespace }, { container, previous, tailLines: TAIL, signal }))
      found.push(line)
  } catch {
    return previous ? lastLines(cluster, name, namespace, container, false) : found
  }
  return found
}
