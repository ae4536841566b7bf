import { describe, expect, test } from 'vitest'
import { readAddress } from '../../../../adapters/git/address.ts'
import { UserError } from '../../../../compiler/diagnostics/user-error.ts'

describe('readAddress', () => {
  test.each([
    'https://example.com/team/deploy.git',
    'ssh://git@example.com/team/deploy.git',
    'git@example.com:team/deploy.git',
    'ssh://git@my-host.example.com/-/deploy.git',
    'git@my-host:team/-deploy.git',
  ])('readAddress accepts %s', text => {
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
    ['-oProxyCommand=x:deploy.git', 'is not a repository URL', 'ssh://HOST/PATH'],
    ['ext::sh -c x', 'is not a repository URL', 'ssh://HOST/PATH'],
    ['https://evil.example.com#@example.com/x', 'it has no valid host', '`%23`'],
    ['https://evil.example.com?@example.com/x', 'it has no valid host', '`%3F`'],
    ['https://example.com\\@evil.example.com/x', 'it has no valid host', '`%5C`'],
    ['ssh://git@example.com\\x@evil.example.com/x', 'it has no valid host', '`%5C`'],
    ['https://example.com/a b', 'is not a repository URL', 'ssh://HOST/PATH'],
    ['file:///tmp/%E0%A4%A', 'is not a repository URL', 'ssh://HOST/PATH'],
    ['file://[/tmp', 'is not a repository URL', 'ssh://HOST/PATH'],
    ['file:///tmp/a%00b', 'does not exist', 'ssh://HOST/PATH'],
    ['a\u0000b', 'does not exist', 'ssh://HOST/PATH'],
    ['https://ci:a%0Ab@example.com/x', 'contains a line break', 'leave it out'],
    ['https://ci%0d:a@example.com/x', 'contains a line break', 'leave it out'],
    ['gopher://example.com/x', 'is not a repository URL', 'ssh://HOST/PATH'],
  ])('readAddress refuses %s before git gets it', (text, message, hint) => {
    const read = () => readAddress(text, '/')
    expect(read).toThrow(UserError)
    expect(read).toThrow(message)
    expect(read).toThrow(expect.objectContaining({ hint: expect.stringContaining(hint) }))
  })
})
