import { expect, test } from 'vitest'
import { withoutLogin } from '../../../../../cli/run/platform/repository-here.ts'

test.each([
  'https://git.example.com/team/shop.git',
  'git@git.example.com:team/shop.git',
  'ssh://git@git.example.com/team/shop.git',
  'git+ssh://git@git.example.com/team/shop.git',
  'ssh+git://git@git.example.com/team/shop.git',
])('withoutLogin accepts %s, whose user is not a login', address => {
  expect(withoutLogin(address, '--repository')).toBe(address)
})

test.each([
  'https://ann@git.example.com/team/shop.git',
  'https://ann:secret@git.example.com/team/shop.git',
  'ssh+git://git:secret@git.example.com/team/shop.git',
])('withoutLogin refuses %s, which has a login', address => {
  expect(() => withoutLogin(address, '--repository')).toThrow('has a user or a password')
})
