import { expect, test } from 'vitest'
import { tokenLogin } from '../../../../adapters/forge/token-host.ts'

const address = { url: 'https://git.example.com/team/deploy.git', isNamedByUser: true } as const

test.each([
  ['tok', undefined, { user: 'x-access-token', password: 'tok' }],
  ['tok\n', 'ci\n', { user: 'ci', password: 'tok' }],
  ['tok\r\n', ' \n', { user: 'x-access-token', password: 'tok' }],
  [' pass word\n', 'ci', { user: 'ci', password: 'pass word' }],
])('tokenLogin returns the login without spaces around it: token %j, user %j', (token, user, login) => {
  const env = { DEVCTL_GIT_TOKEN: token, DEVCTL_GIT_USERNAME: user }
  expect(tokenLogin(address, env)).toEqual({ login: { origin: 'https://git.example.com', ...login } })
})

test.each(['', ' \n'])('tokenLogin returns nothing for the empty token %j', token => {
  expect(tokenLogin(address, { DEVCTL_GIT_TOKEN: token })).toBeUndefined()
})

test.each([
  ['DEVCTL_GIT_TOKEN', { DEVCTL_GIT_TOKEN: 'first\nsecond' }],
  ['DEVCTL_GIT_USERNAME', { DEVCTL_GIT_TOKEN: 'tok', DEVCTL_GIT_USERNAME: 'a\nb' }],
])('tokenLogin withholds a login of two lines in %s, because git could not read it', (variable, env) => {
  expect(tokenLogin(address, env)).toEqual({
    withheld: {
      ok: false,
      reason: `\`${variable}\` contains a line break or another control character`,
      hint: 'set it to the text of one line',
    },
  })
})
