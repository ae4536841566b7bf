import { isOneOf } from '../../schema/harmless.ts'
import { mapped, none } from '../../schema/row.ts'
import { anyOf, list, object, text, word } from '../../schema/shape.ts'
import { castFlag, labels, names } from './forms.ts'

/** What a container may do and see of its host: keys of services, jobs and pre_start hooks. */
export const isolation = {
  privileged: mapped(castFlag(), '`securityContext.privileged`'),
  cap_add: mapped(names(), '`securityContext.capabilities.add`'),
  cap_drop: mapped(names(), '`securityContext.capabilities.drop`'),
  read_only: mapped(castFlag(), '`securityContext.readOnlyRootFilesystem`'),
  security_opt: mapped(
    list(text(), { unique: true }),
    '`allowPrivilegeEscalation`, `seccompProfile`, `appArmorProfile`, `seLinuxOptions`, `procMount`',
    'other options get a warning',
  ),
  sysctls: mapped(
    labels(),
    '`securityContext.sysctls` of the Pod',
    'a cluster allows safe sysctls only, unless its nodes are configured otherwise (warning)',
  ),
  pid: mapped(anyOf('string', 'null'), '`hostPID`', '`service:x`: one Pod with a shared process namespace'),
  ipc: mapped(text(), '`hostIPC`', '`service:x`: one Pod; `private` and `shareable` are the default'),
  uts: mapped(text(), '`host` comes with `network_mode: host`', '`service:x`: one Pod'),
  cgroup: none(word(['host', 'private']), {
    why: 'Every container of a Pod has its own control group namespace.',
    harmless: isOneOf('private'),
  }),
  cgroup_parent: none(text(), {
    why: 'The kubelet places the control groups of Pods by their quality-of-service class.',
    hint: 'set requests and limits in `deploy.resources`',
  }),
  userns_mode: none(text(), {
    why: 'User namespaces for Pods depend on the cluster. `host` is the default.',
    harmless: isOneOf('host', ''),
  }),
  isolation: none(text(), {
    why: 'The key selects the isolation of Windows containers.',
    hint: 'use `runtime` with the name of a RuntimeClass',
    harmless: isOneOf('default', 'process', ''),
  }),
  credential_spec: none(object({ config: text(), file: text(), registry: text() }), {
    why: 'The key gives a Windows container a group managed service account. devctl creates Linux Pods only.',
  }),
}
