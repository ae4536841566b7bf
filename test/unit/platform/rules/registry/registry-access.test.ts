import { describe, expect, test } from 'vitest'
import {
  grantedAccess,
  namespaceIn,
  parseScopes,
  placeFor,
  placeOf,
  splitRegistry,
} from '../../../../../platform/rules/registry/registry-access.ts'

describe('scopes', () => {
  test.each<readonly [string, readonly string[], string | undefined]>([
    ['one', ['repository:ann/web:pull,push'], 'repository ann/web pull,push'],
    [
      'with spaces between',
      ['repository:ann/web:pull repository:bob/db:pull'],
      'repository ann/web pull; repository bob/db pull',
    ],
    [
      'named again',
      ['repository:ann/web:pull', 'repository:bob/db:pull,pull'],
      'repository ann/web pull; repository bob/db pull',
    ],
    ['none: a login', [''], ''],
    ['with a class', ['repository(plugin):ann/web:pull'], 'repository ann/web pull'],
    ['of the catalogue', ['registry:catalog:*'], 'registry catalog *'],
    ['without an action', ['repository:ann/web:'], undefined],
    ['without a name', ['repository::pull'], undefined],
    ['with a port, as a name', ['repository:host:5000/ann:pull'], undefined],
    ['words', ['everything'], undefined],
    ['too many', [Array.from({ length: 21 }, (_, at) => `repository:a/b${at}:pull`).join(' ')], undefined],
    ['too long', [`repository:${'a'.repeat(500)}:pull`], undefined],
  ])('parseScopes checks scopes: %s', (_, texts, wanted) => {
    const found = parseScopes(texts)
    expect(found?.map(({ type, name, actions }) => `${type} ${name} ${actions.join(',')}`).join('; ')).toBe(wanted)
  })
})

describe('the place of a repository', () => {
  test.each<readonly [string, string, string | undefined]>([
    ['ann/web', '', 'ann'],
    ['ann/team/web', '', 'ann'],
    ['shared/node', '', 'shared'],
    ['ann-dev/web', '', 'ann-dev'],
    ['team/ann/web', 'team/', 'ann'],
    ['ann', '', undefined],
    ['team/ann', 'team/', undefined],
    ['other/ann/web', 'team/', undefined],
    ['teams/ann/web', 'team/', undefined],
    ['ann//web', '', undefined],
    ['ann/../bob/web', '', undefined],
    ['../ann/web', '', undefined],
    ['ANN/web', '', undefined],
    ['ann/web/', '', undefined],
    ['ann%2fweb/x', '', undefined],
    ['', '', undefined],
  ])('placeOf reads `%s` below `%s`', (repository, prefix, wanted) => expect(placeOf(repository, prefix)).toBe(wanted))

  test.each([
    ['shop-1f2e3d4c', 'shop'],
    ['shop-1f2e3d4c-0a1b2c3d', 'shop-1f2e3d4c'],
    ['shop', undefined],
    ['shared', undefined],
    ['-1f2e3d4c', undefined],
    ['shop-1f2e3d4', undefined],
    ['shop-1f2e3d4cc', undefined],
    ['shop-1F2E3D4C', undefined],
  ])('namespaceIn reads `%s` as %s', (place, wanted) => expect(namespaceIn(place)).toBe(wanted))

  test('namespaces of the same name have their own places', () => {
    const of = (uid: string) => placeFor({ name: 'shop', uid })
    expect(of('1f2e3d4c-1111-4222-8333-944445555666')).toBe('shop-1f2e3d4c')
    expect(of('2f2e3d4c-1111-4222-8333-944445555666')).toBe('shop-2f2e3d4c')
  })

  test('splitRegistry takes the path of the registry as the prefix', () => {
    expect(splitRegistry('images.example.com')).toEqual({ host: 'images.example.com', prefix: '' })
    expect(splitRegistry('images.example.com:5000/a/b')).toEqual({ host: 'images.example.com:5000', prefix: 'a/b/' })
  })
})

describe('grantedAccess', () => {
  const of = (actions: readonly string[], type = 'repository') => ({ type, name: 'ann/web', actions })
  test.each([
    ['pusher', ['pull', 'push'], ['pull', 'push']],
    ['pusher', ['delete'], ['delete']],
    ['pusher', ['*'], ['pull', 'push', 'delete']],
    ['pusher', ['admin'], undefined],
    ['puller', ['pull', 'push'], ['pull']],
    ['puller', ['push'], undefined],
    ['puller', ['*'], ['pull']],
    ['stranger', ['pull', 'push', '*'], undefined],
  ] as const)('a %s who requests %j gets only the allowed actions', (relation, wanted, actions) =>
    expect(grantedAccess(of(wanted), relation)?.actions).toEqual(actions),
  )

  test('grantedAccess grants repositories only, and no list of them', () =>
    expect(grantedAccess(of(['*'], 'registry'), 'pusher')).toBeUndefined())
})
