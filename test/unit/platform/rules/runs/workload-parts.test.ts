import { expect, test } from 'vitest'
import { isPartOf } from '../../../../../platform/rules/runs/workload-parts.ts'

/** A name with so many characters. */
const long = (length: number) => 'a'.repeat(length)

// Kubernetes cuts the beginning of a generated name to 58 characters, and then appends 5.
test.each([
  [`deployment/${long(46)}`, 'Pod', `${long(46)}-6bbc7c877f-l5m5d`, true],
  [`deployment/${long(47)}`, 'Pod', `${long(47)}-6bbc7c877fl5m5d`, true],
  [`deployment/${long(47)}`, 'Pod', `${long(47)}-api-7c877fl5m5d`, false],
  [`deployment/${long(47)}`, 'Pod', `${long(46)}b-6bbc7c877fl5m5d`, false],
  [`deployment/${long(56)}`, 'Pod', `${long(56)}-6l5m5d`, true],
  [`deployment/${long(57)}`, 'Pod', `${long(57)}-l5m5d`, true],
  [`deployment/${long(60)}`, 'Pod', `${long(58)}l5m5d`, true],
  [`deployment/${long(40)}`, 'Pod', `${long(40)}-6bbc7c877fl5m5d`, false],
  [`job/${long(60)}`, 'Pod', `${long(58)}l5m5d`, true],
  [`daemonset/${long(58)}`, 'Pod', `${long(58)}l5m5d`, true],
  [`daemonset/${long(56)}`, 'Pod', `${long(56)}-6l5m5d`, false],
  [`statefulset/${long(60)}`, 'Pod', `${long(58)}l5m5d`, false],
  ['deployment/web', 'Deployment', 'web', true],
  ['deployment/web', 'StatefulSet', 'web', false],
  ['deployment/web', 'Deployment', 'web-api', false],
  ['deployment/web', 'ReplicaSet', 'web-6bbc7c877f', true],
  ['deployment/web', 'ReplicaSet', 'web-api-6bbc7c877f', false],
  ['deployment/web', 'Pod', 'web-6bbc7c877f-l5m5d', true],
  ['deployment/web', 'Pod', 'web-api-6bbc7c877f-l5m5d', false],
  ['deployment/web-api', 'Pod', 'web-api-6bbc7c877f-l5m5d', true],
  ['deployment/web', 'Pod', 'website-6bbc7c877f-l5m5d', false],
  ['deployment/web', 'Pod', 'web', false],
  ['statefulset/db', 'Pod', 'db-0', true],
  ['statefulset/db', 'Pod', 'db-copy-0', false],
  ['statefulset/db', 'ReplicaSet', 'db-6bbc7c877f', false],
  ['job/migrate-1a2b3c', 'Pod', 'migrate-1a2b3c-x7k2p', true],
  ['daemonset/agent', 'Pod', 'agent-x7k2p', true],
  ['deployment/web', 'Ingress', 'web', false],
  ['', 'Pod', '-x7k2p', false],
])('isPartOf for %s and the %s %s returns %s', (workload, kind, name, is) => {
  expect(isPartOf(workload, { kind, name })).toBe(is)
})
