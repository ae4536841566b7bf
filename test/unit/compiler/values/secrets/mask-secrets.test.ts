import { expect, test } from 'vitest'
import { maskSecrets } from '../../../../../compiler/values/secrets/mask-secrets.ts'

test.each([
  ['image: nginx:1.27\nreplicas: 2\n', 'image: nginx:1.27\nreplicas: 2\n'],
  ['  - name: DB_PASSWORD\n    value: hunter2-long\n', '  - name: DB_PASSWORD\n    value: ***\n'],
  ['  - name: DB_PASSWORD\n    value: "hunter2-long"\n', '  - name: DB_PASSWORD\n    value: ***\n'],
  ['"name": "DB_PASSWORD",\n"value": "hunter2-long"\n', '"name": "DB_PASSWORD",\n"value": ***\n'],
  ['  - name: COLOUR\n    value: blue-long\n', '  - name: COLOUR\n    value: blue-long\n'],
  ['url: postgres://a:one-secret@x/y http://b:two-secret@z/', 'url: postgres://a:***@x/y http://b:***@z/'],
  ['password: hunter2-long', 'password: ***'],
  ['seed: 9fK2mQx7Lp0Zr4Tb8Wn1Yc6Vd3Hs5Gj', 'seed: ***'],
])('maskSecrets masks the secrets in %j', (text, masked) => {
  expect(maskSecrets(text)).toBe(masked)
})
