import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { At } from '../../text/source.ts'
import type { MapTree } from '../../text/tree.ts'
import { isDnsSubdomain } from '../../values/dns-name.ts'
import type { Service } from '../project.ts'
import type { ReadContext } from './context.ts'
import { filledText, flag, list, pairs } from './tree-values.ts'

const badRuntime = diagnostic({
  code: 'runtime/bad-name',
  severity: 'error',
  explain: `\`runtime\` names a RuntimeClass of the cluster. The name consists of lower-case letters, digits, \`-\` and \`.\`, and begins and ends with a letter or digit. \`kubectl get runtimeclass\` lists the available ones.

\`\`\`yaml
runtime: kata-qemu
\`\`\``,
  text: (p: { runtime: string }) => ({
    message: `\`${p.runtime}\` is not a valid RuntimeClass name`,
    hint: 'use a name that `kubectl get runtimeclass` lists',
  }),
})

type SecurityFields = Pick<
  Service,
  'privileged' | 'readOnly' | 'securityOpt' | 'sysctls' | 'pid' | 'ipc' | 'uts' | 'cgroup' | 'usernsMode' | 'runtime'
>

/** Isolation from the node and from each other. What the words mean in Kubernetes is the plan's to decide. */
export function readSecurity(service: MapTree, context: ReadContext): SecurityFields {
  return {
    privileged: flag(service, 'privileged'),
    readOnly: flag(service, 'read_only'),
    securityOpt: list(service, 'security_opt'),
    sysctls: pairs(service, ['sysctls'], ''),
    pid: filledText(service, 'pid'),
    ipc: filledText(service, 'ipc'),
    uts: filledText(service, 'uts'),
    cgroup: filledText(service, 'cgroup'),
    usernsMode: filledText(service, 'userns_mode'),
    runtime: readRuntime(service, context),
  }
}

function readRuntime(service: MapTree, { reporter }: ReadContext): At<string> | undefined {
  const found = filledText(service, 'runtime')
  if (!found || isDnsSubdomain(found.value)) return found
  reporter.report(badRuntime, found.span, { runtime: found.value })
  return undefined
}
