import { isOneOf } from '../../schema/harmless.ts'
import { mapped, none } from '../../schema/row.ts'
import { anyOf, flag, keyValues, list, object, text, word } from '../../schema/shape.ts'

/** What a container may do and see of its host: keys of services, jobs and pre_start hooks. */
export const isolation = {
  privileged: mapped(flag(), '`securityContext.privileged`'),
  cap_add: mapped(list(text()), '`securityContext.capabilities.add`'),
  cap_drop: mapped(list(text()), '`securityContext.capabilities.drop`'),
  read_only: mapped(flag(), '`securityContext.readOnlyRootFilesystem`'),
  security_opt: mapped(
    list(text(), { unique: true }),
    '`allowPrivilegeEscalation`, `seccompProfile`, `appArmorProfile`, `seLinuxOptions`, `procMount`',
    'other options get a warning',
  ),
  sysctls: mapped(
    keyValues(),
    '`securityContext.sysctls` of the Pod',
    'a cluster admits the safe ones only, unless its nodes say otherwise (warning)',
  ),
  pid: mapped(anyOf('string', 'null'), '`hostPID`', '`service:x`: one Pod with a shared process namespace'),
  ipc: mapped(text(), '`hostIPC`', '`service:x`: one Pod; `private` and `shareable` are what a Pod has'),
  uts: mapped(text(), 'what `network_mode: host` gives', '`service:x`: one Pod'),
  cgroup: none(word(['host', 'private']), {
    why: 'Every container of a Pod has a control group namespace of its own.',
    harmless: isOneOf('private'),
  }),
  cgroup_parent: none(text(), {
    why: 'The kubelet decides where the control groups of Pods are, by their quality of service.',
    hint: 'set requests and limits in `deploy.resources`',
  }),
  userns_mode: none(text(), {
    why: 'Whether Pods have user namespaces of their own depends on the cluster; `host` is what a Pod has unless it asks for another.',
    harmless: isOneOf('host', ''),
  }),
  isolation: none(text(), {
    why: 'It chooses between kinds of Windows containers.',
    hint: 'use `runtime` with the name of a RuntimeClass',
    harmless: isOneOf('default', 'process', ''),
  }),
  credential_spec: none(object({ config: text(), file: text(), registry: text() }), {
    why: 'It gives a Windows container the account of a managed service. devctl makes Pods for Linux.',
  }),
}
