import { expect, test } from 'vitest'
import { LOGIN, toLogin } from '../../../../../platform/rules/accounts/login-name.ts'

test.each([
  ['ann', 'ann'],
  ['Ann.B-c_d', 'Ann.B-c_d'],
  ['john doe', 'john-doe'],
  ['jdoe@corp.example.com', 'jdoe-corp.example.com'],
  ['CORP+jdoe', 'CORP-jdoe'],
  ['jörg', 'jorg'],
  ['_svc', 'svc'],
  ['x'.repeat(60), 'x'.repeat(39)],
  ['日本', 'admin'],
  ['', 'admin'],
])('the user %j of a machine becomes the user name %j', (name, wanted) => {
  expect(toLogin(name)).toBe(wanted)
  expect(wanted).toMatch(new RegExp(LOGIN))
})
