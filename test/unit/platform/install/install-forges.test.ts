import { expect, test } from 'vitest'
import { wantedForges } from '../../../../platform/install/install-forges.ts'
import { platformObjects } from '../../../../platform/install/manifests/server.ts'
import { readSettings } from '../../../../platform/server/settings.ts'

const server = { kind: 'gitea', url: 'https://git.example.com' } as const

test('`--forge` names servers of repositories, which the settings then contain', () => {
  const forges = wantedForges(
    ['gitea=https://git.example.com/', 'gitlab=https://lab.example.com/gitlab,api=https://api.example.com/v4'],
    undefined,
  )
  expect(forges).toEqual([
    server,
    { kind: 'gitlab', url: 'https://lab.example.com/gitlab', api: 'https://api.example.com/v4' },
  ])
  const objects = platformObjects({
    version: '0.1.0',
    domain: 'dev.example.com',
    image: 'devctl/platform',
    runnerImage: 'devctl/runner',
    replicas: 1,
    kubernetes: { server: 'https://kubernetes.example.com' },
    kept: { forges },
  })
  const settings = objects.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === 'settings')
  const { 'settings.json': text = '' } = settings!['data'] as Readonly<Record<string, string>>
  expect(readSettings(text).forges).toEqual(forges)
})

test('wantedForges writes a server as repositories name it', () => {
  expect(wantedForges(['gitea=HTTPS://Git.Example.com:443/,api=https://Api.Example.com/V1/'], undefined)).toEqual([
    { ...server, api: 'https://api.example.com/V1' },
  ])
})

test('wantedForges keeps the installed servers without an option, and `-` removes them', () => {
  expect(wantedForges(undefined, [server])).toEqual([server])
  expect(wantedForges(['-'], [server])).toEqual([])
})

test.each([
  ['https://git.example.com', 'which server, of which kind?'],
  ['gitea', 'which server, of which kind?'],
  ['svn=https://git.example.com', '`svn` is none of `github`, `gitlab`, `gitea`'],
  ['gitea=http://git.example.com', 'begins with `https://`'],
  ['gitea=https://ann:secret@git.example.com', 'no user'],
  ['gitea=https://git.example.com?x', 'no query'],
  ['gitea=https://git.example.com,api=http://10.0.0.1', 'begins with `https://`'],
  ['gitea=https://git.example.com,more=x', 'which server, of which kind?'],
])('`--forge %s` is refused', (option, message) => {
  expect(() => wantedForges([option], undefined)).toThrow(message)
})

test('a forge server cannot be named with two kinds', () => {
  for (const other of ['https://git.example.com/', 'https://Git.Example.com', 'https://git.example.com:443'])
    expect(() => wantedForges(['gitea=https://git.example.com', `gitlab=${other}`], undefined)).toThrow(
      '`https://git.example.com` is there twice',
    )
})
