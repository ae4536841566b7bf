import type { Service } from '../project/project.ts'
import type { MapTree } from '../syntax/tree.ts'
import { filledText, flag, list, pairs } from './tree-values.ts'

type SecurityFields = Pick<
  Service,
  'privileged' | 'readOnly' | 'securityOpt' | 'sysctls' | 'pid' | 'ipc' | 'uts' | 'cgroup' | 'usernsMode' | 'runtime'
>

/** Isolation from the node and from each other. What the words mean in Kubernetes is the plan's to decide. */
export function readSecurity(service: MapTree): SecurityFields {
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
    runtime: filledText(service, 'runtime'),
  }
}
