import { userInfo } from 'node:os'
import { expect, test } from 'vitest'
import { userName } from '../../../../adapters/process/user-name.ts'

const noEntry = () => {
  throw new Error('uv_os_get_passwd returned ENOENT (no such file or directory)')
}

test('the name of the user is that of the operating system', () => {
  expect(userName({ USER: 'other' })).toBe(userInfo().username)
})

test.each([
  [{ USER: 'ann', LOGNAME: 'bob' }, 'ann'],
  [{ USER: '', LOGNAME: 'bob' }, 'bob'],
  [{}, String(process.getuid?.() ?? 'user')],
])('a user whom the operating system has no entry for has a name with %j', (env, wanted) => {
  expect(userName(env, noEntry)).toBe(wanted)
})
