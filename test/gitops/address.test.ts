import { describe, expect, test } from 'vitest'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { readAddress } from '../../gitops/address.ts'

describe('the address of a repository', () => {
  test.each([
    'https://example.com/team/deploy.git',
    'ssh://git@example.com/team/deploy.git',
    'git@example.com:team/deploy.git',
    'ssh://git@my-host.example.com/-/deploy.git',
    'git@my-host:team/-deploy.git',
  ])('%s', text => {
    expect(readAddress(text, '/')).toMatchObject({ url: text, isCheckout: false })
  })

  test.each([
    ['HTTP://example.com/deploy.git', 'capital letters', 'write `http://`'],
    ['Ssh://git@example.com/deploy.git', 'capital letters', 'write `ssh://`'],
    ['FILE:///tmp', 'capital letters', 'write `file://`'],
    ['ssh://-oProxyCommand=x/deploy.git', 'begin with a dash', 'ssh://HOST/PATH'],
    ['ssh://git@-oProxyCommand=x/deploy.git', 'begin with a dash', 'ssh://HOST/PATH'],
    ['git@-oProxyCommand=x:deploy.git', 'begin with a dash', 'ssh://HOST/PATH'],
    ['https://-x.example.com/deploy.git', 'begin with a dash', 'ssh://HOST/PATH'],
    ['-oProxyCommand=x:deploy.git', 'is no address', 'ssh://HOST/PATH'],
    ['ext::sh -c x', 'is no address', 'ssh://HOST/PATH'],
    ['gopher://example.com/x', 'is no address', 'ssh://HOST/PATH'],
  ])('%s is refused before git sees it', (text, message, hint) => {
    const read = () => readAddress(text, '/')
    expect(read).toThrow(UserError)
    expect(read).toThrow(message)
    expect(read).toThrow(expect.objectContaining({ hint: expect.stringContaining(hint) }))
  })
})
