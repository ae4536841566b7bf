import { expect, test } from 'vitest'
import { toHttps } from '../../../../adapters/git/git-facts.ts'

test.each([
  ['git@github.com:team/shop.git', 'https://github.com/team/shop.git'],
  ['ssh://git@git.example.com:2222/team/shop.git', 'https://git.example.com/team/shop.git'],
  ['https://ann:secret@example.com:8443/shop.git', 'https://example.com:8443/shop.git'],
  ['git://example.com/shop', 'https://example.com/shop'],
  ['ssh+git://git@git.example.com/team/shop.git', 'https://git.example.com/team/shop.git'],
  ['git+ssh://git@git.example.com/team/shop.git', 'https://git.example.com/team/shop.git'],
  ['ssh://git@ssh.github.com:443/team/shop.git', 'https://github.com/team/shop.git'],
  ['ssh+git://git@SSH.github.com:443/team/shop.git', 'https://github.com/team/shop.git'],
  ['git@ssh.github.com:team/shop.git', 'https://github.com/team/shop.git'],
  ['git@altssh.gitlab.com:team/shop.git', 'https://gitlab.com/team/shop.git'],
  ['ssh://git@altssh.bitbucket.org:443/team/shop.git', 'https://bitbucket.org/team/shop.git'],
  ['/srv/git/shop.git', undefined],
  ['../shop', undefined],
  ['file:///srv/shop.git', undefined],
  ['C:\\shop', undefined],
])('toHttps converts %s to an https address if it names a host', (address, expected) => {
  expect(toHttps(address)).toBe(expected)
})
