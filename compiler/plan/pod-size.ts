import { diagnostic } from '../diagnostics/diagnostic.ts'
import type { PlanContext } from './context.ts'
import type { PodPlan, WorkloadPlan } from './plan.ts'

const tooLarge = diagnostic({
  code: 'services/too-large',
  severity: 'error',
  explain:
    'A cluster stores objects of at most 1.5 MiB, and environment and commands are a part of the object that runs the service. Put large texts into a config or secret, which is mounted as a file.',
  text: (p: { service: string; bytes: number }) => ({
    message: `environment and commands of \`${p.service}\` have ${p.bytes} bytes, more than a cluster stores in one object`,
    hint: 'put large values into a config or secret, and mount it',
  }),
})

/** What environment and commands may have together: 1.5 MiB less room for the rest, and for what the server keeps about each field. */
const mostBytes = 1_300_000

/** Reports a workload whose Pods are too large to be stored. */
export function checkPodSize({ reporter }: Pick<PlanContext, 'reporter'>, { pod, service, span }: WorkloadPlan): void {
  const bytes = sizeOf(pod)
  if (bytes > mostBytes) reporter.report(tooLarge, span, { service, bytes })
}

/** The texts that a user may make as long as they like. */
function sizeOf({ containers, init }: PodPlan): number {
  let bytes = 0
  for (const { env, command = [], args = [], postStart = [], preStop = [] } of [...init, ...containers]) {
    for (const { name, value = '' } of env) bytes += name.length + Buffer.byteLength(value)
    for (const word of [...command, ...args, ...postStart, ...preStop]) bytes += Buffer.byteLength(word)
  }
  return bytes
}
