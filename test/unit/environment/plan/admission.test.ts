import { expect, test } from 'vitest'
import { admissionHint } from '../../../../environment/plan/admission.ts'

const hintOf = (message: string) => admissionHint({ failure: 'forbidden', message })

test.each([
  [
    'pods "api" is forbidden: exceeded quota: small, requested: pods=1, used: pods=1, limited: pods=1',
    /^the ResourceQuota of the namespace is used up/,
  ],
  ['pods "api" is forbidden: failed quota: small: must specify limits.cpu for: main', /^a ResourceQuota .* requires/],
  ['pods "api" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot != true', /level of Pod Security/],
  ['pods "api" is forbidden: maximum cpu usage per Container is 100m, but limit is 1', /^a LimitRange/],
  ['pods "api" is forbidden: [minimum memory usage per Pod is 1Gi, but request is 64Mi]', /^a LimitRange/],
  [
    "deployments.apps \"api\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no",
    /^it is a rule/,
  ],
  [
    'deployments.apps "api" is forbidden: User "ann" cannot patch resource "deployments" in API group "apps"',
    /^undefined$/,
  ],
  ['forbidden', /^undefined$/],
])('admissionHint explains the refusals that it knows: %s', (message, hint) => {
  expect(String(hintOf(message))).toMatch(hint)
})
