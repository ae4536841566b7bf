import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import type { SeenPod, SeenProbe } from './pod-fields.ts'

/**
 * Pattern of the message from a shell or the runtime about a program that is not in the image. One of the groups is the
 * name of the program.
 */
export const NO_PROGRAM =
  /exec: "([^"]+)": (?:executable file not found|stat [^:]+: no such file)|(?:^|[\s"])(?:\/bin\/)?(?:ba|a|da|z)?sh: (?:(?:line )?\d+: )?([^\s:]+): (?:command )?not found/

/**
 * Beginning of the kubelet's message: `Readiness probe failed: `, or, if the runtime could not run the check,
 * `Readiness probe errored and resulted in unknown state: `. The name of the Pod may come first.
 */
const PREFIX = /^(?:pod\/\S+: )?(Readiness|Liveness|Startup) probe (failed|errored)[^:]*: /

/** Message of the kubelet about a command that took too long, in place of the command's output. */
const TIMED_OUT = /^command (?:timed out|".*" timed out)/s

/**
 * Returns the part of a health check message that comes from the kubelet, the runtime or the shell. The output of a
 * command is removed, because it can be anything, such as an error about another server; only the message about a
 * missing program is kept. `container` is the checked container; undefined for any.
 */
export function checkWords(message: string, pod: KubeObject | undefined, container: string | undefined): string {
  const [prefix = '', kind = '', verb = ''] = PREFIX.exec(message) ?? []
  if (prefix === '' || verb === 'errored' || !isCommand(pod, container, kind)) return message
  const output = message.slice(prefix.length)
  if (TIMED_OUT.test(output)) return message
  const [first = ''] = output.split('\n')
  return NO_PROGRAM.test(first) && /^\S*sh: |^OCI runtime exec/.test(first) ? `${prefix}${first}` : prefix
}

function isCommand(pod: KubeObject | undefined, container: string | undefined, kind: string): boolean {
  const { spec } = (pod ?? {}) as SeenPod // the server has checked its shape
  const all = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])]
  const checked = all.filter(({ name }) => container === undefined || name === container)
  const probesOf = (one: (typeof all)[number]): readonly (SeenProbe | undefined)[] =>
    kind === 'Readiness' ? [one.readinessProbe] : kind === 'Liveness' ? [one.livenessProbe] : [one.startupProbe]
  return checked.some(one => probesOf(one).some(probe => probe?.exec !== undefined))
}
