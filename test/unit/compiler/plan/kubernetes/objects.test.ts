import { expect, test } from 'vitest'
import { planOf } from '../../../../support/plan/compose.ts'

const ROLE = ', roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}'

const codes = (apiVersion: string, kind: string, name: string, options = {}) =>
  planOf(
    `
services:
  web: {image: w, ports: ["80:80"], depends_on: {m: {condition: service_completed_successfully}}}
  m: {image: m, restart: "no"}
x-kubernetes:
  objects: [{apiVersion: ${apiVersion}, kind: ${kind}, metadata: {name: ${name}}${kind === 'RoleBinding' ? ROLE : ''}}]
`,
    options,
  ).codes

const gateway = { routes: 'gateway', gateway: 'infra/main' } as const

test.each([
  ['v1', 'Service', 'web', {}],
  ['networking.k8s.io/v1', 'Ingress', 'web', {}],
  ['gateway.networking.k8s.io/v1', 'HTTPRoute', 'web', gateway],
  ['v1', 'ServiceAccount', 'app-waits-for-m', {}],
  ['rbac.authorization.k8s.io/v1', 'Role', 'app-waits-for-m', {}],
  ['rbac.authorization.k8s.io/v1', 'RoleBinding', 'app-waits-for-m', {}],
])('%s %s %s has the name of an object that devctl creates', (apiVersion, kind, name, options) => {
  expect(codes(apiVersion, kind, name, options)).toEqual(['kubernetes/taken-name'])
})

test.each([
  ['serving.knative.dev/v1', 'Service', 'web', {}],
  ['gateway.networking.k8s.io/v1', 'HTTPRoute', 'web', {}],
  ['networking.k8s.io/v1', 'Ingress', 'web', gateway],
  ['v1', 'ServiceAccount', 'app-waits-for-web', {}],
])('%s %s %s has a name that no object of devctl has', (apiVersion, kind, name, options) => {
  expect(codes(apiVersion, kind, name, options)).toEqual([])
})
