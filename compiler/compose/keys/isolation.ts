import { mapped, none } from '../../schema/row.ts'
import { anyOf, integer, list, object, record, type Shape, text, word } from '../../schema/shape.ts'
import { isOneOf } from '../../schema/value-predicates.ts'
import { readAutoscale } from '../read/autoscale.ts'
import { readCapabilities } from '../read/capabilities.ts'
import { readKubernetes } from '../read/kubernetes/pieces.ts'
import { readNodeSelector } from '../read/node-selector.ts'
import * as read from '../read/plain-values.ts'
import { readScale } from '../read/scale.ts'
import { castFlag, labels, names } from './forms.ts'
import type { Keys } from './key.ts'
import { kubernetes } from './kubernetes.ts'
import * as print from './print.ts'

/** Keys for privileges, namespaces and placement, shared by services, jobs and pre_start hooks. */
export const isolation = {
  privileged: { ...mapped(castFlag(), '`securityContext.privileged`'), read: { privileged: read.flag } },
  cap_add: { ...mapped(names(), '`securityContext.capabilities.add`'), read: { capAdd: readCapabilities } },
  cap_drop: { ...mapped(names(), '`securityContext.capabilities.drop`'), read: { capDrop: readCapabilities } },
  read_only: { ...mapped(castFlag(), '`securityContext.readOnlyRootFilesystem`'), read: { readOnly: read.flag } },
  security_opt: {
    ...mapped(
      list(text(), { unique: true }),
      '`allowPrivilegeEscalation`, `seccompProfile`, `appArmorProfile`, `seLinuxOptions`, `procMount`',
      'other options get a warning',
    ),
    read: { securityOpt: read.texts },
  },
  sysctls: {
    ...mapped(
      labels(),
      '`securityContext.sysctls` of the Pod',
      'a cluster allows safe sysctls only, unless its nodes are configured otherwise (warning)',
    ),
    read: { sysctls: read.pairs },
  },
  pid: {
    ...mapped(anyOf('string', 'null'), '`hostPID`', '`service:x`: one Pod with a shared process namespace'),
    read: { pid: read.text },
  },
  ipc: {
    ...mapped(text(), '`hostIPC`', '`service:x`: one Pod; `private` and `shareable` are the default'),
    read: { ipc: read.text },
  },
  uts: {
    ...mapped(text(), '`host` comes with `network_mode: host`', '`service:x`: one Pod'),
    read: { uts: read.text },
  },
  cgroup: {
    ...none(word(['host', 'private']), {
      why: 'Every container of a Pod has its own control group namespace.',
      harmless: isOneOf('private'),
    }),
    read: { cgroup: read.text },
  },
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
  'x-node-selector': {
    ...mapped(
      { ...record({ scalar: { types: ['string', 'number', 'boolean'] } }), print: print.asIs },
      '`nodeSelector`',
      'of the dialect',
    ),
    read: { nodeSelector: readNodeSelector },
    notInherited: true as const,
  },
  'x-autoscale': {
    ...mapped(
      {
        ...object(
          {
            min: mapped(integer({ minimum: 1 }), '`minReplicas`', 'default 1'),
            max: mapped(integer({ minimum: 1 }), '`maxReplicas`'),
            cpu: mapped(percentage(), 'a target for the use of the requested CPU time'),
            memory: mapped(percentage(), 'a target for the use of the requested memory'),
          },
          { required: ['max'] },
        ),
        print: print.asIs,
      },
      'a HorizontalPodAutoscaler',
      'of the dialect; `scale` then has no effect',
    ),
    read: { autoscale: readAutoscale, scale: readScale },
    notInherited: true as const,
  },
  'x-kubernetes': {
    ...mapped(kubernetes, 'fields of these objects', 'of the dialect'),
    read: { kubernetes: readKubernetes },
    notInherited: true as const,
  },
} satisfies Keys

/** Returns the shape of a percentage: `70%`, or the number alone. */
function percentage(): Shape {
  return {
    scalar: {
      types: ['integer', 'string'],
      minimum: 1,
      pattern: /^[1-9][0-9]{0,2}%?$/,
      like: 'a percentage such as `70%`',
    },
  }
}
