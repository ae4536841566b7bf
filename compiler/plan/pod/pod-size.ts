import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { PlanContext } from '../context.ts'
import type { PodPlan, WorkloadPlan } from '../plan.ts'

const tooLarge = diagnostic({
  code: 'services/too-large',
  severity: 'error',
  explain:
    'A cluster stores objects of at most 1.5 MiB. Environment, commands and the scripts that fill volumes are part of the object of the service. Put large texts into a config or secret, which is mounted as a file.',
  text: (p: { service: string; bytes: number }) => ({
    message: `environment, commands and volumes of \`${p.service}\` have ${p.bytes} bytes, more than fits into one object`,
    hint: 'put large values into a config or secret, and mount it',
  }),
})

/**
 * Maximum size of environment and commands together, in bytes: 1.5 MiB minus room for the other fields of the Pod and
 * for the data that the API server stores about each field.
 */
const mostBytes = 1_300_000

/** Reports a workload whose Pods are too large to be stored. */
export function checkPodSize({ reporter }: Pick<PlanContext, 'reporter'>, { pod, service, span }: WorkloadPlan): void {
  const bytes = sizeOf(pod)
  if (bytes > mostBytes) reporter.report(tooLarge, span, { service, bytes })
}

/**
 * Additional bytes that the cluster stores for each argument, for each variable (including the entry for its name in
 * the managed fields), and for each volume fill.
 */
const OVERHEAD = { word: 2, variable: 62, fill: 1_700 }

/** Returns the size, in bytes, of the parts of a Pod whose number and length depend on the user. */
function sizeOf({ containers, init, fills }: PodPlan): number {
  let bytes = fills.length * OVERHEAD.fill
  for (const { env, command = [], args = [], postStart = [], preStop = [] } of [...init, ...containers]) {
    for (const { name, value = '' } of env) bytes += OVERHEAD.variable + 2 * name.length + Buffer.byteLength(value)
    for (const words of [command, args, postStart, preStop])
      for (const word of words) bytes += OVERHEAD.word + Buffer.byteLength(word)
  }
  return bytes
}
