import { mkdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  composeFilesIn,
  fallbackName,
  repositoryName,
  repositoryOf,
} from '../../../../project/names/environment-name.ts'
import { makeFolder } from '../../../support/cli/folder.ts'

describe('the default name of an environment', () => {
  test.each([
    ['my.app', 'myapp'],
    ['_Shop', 'shop'],
    ['-x_y', 'x_y'],
    ['My App', 'myapp'],
    ['7up', '7up'],
    ['日本', '日本'],
  ])('the folder %s gives the name %s, as in Compose', (folder, name) => {
    const inside = makeFolder({ [`${folder}/compose.yaml`]: '' })
    expect(fallbackName(join(inside, folder))).toBe(name)
  })

  test('the name of a repository is normalized', () => {
    const folder = makeFolder({ '.git/config': '[remote "origin"]\n\turl = x/shop.example.com.git\n' })
    expect(fallbackName(folder)).toBe('shopexamplecom')
  })
})

describe('the name of a repository', () => {
  test.each([
    ['https://git.example.com/team/shop.git', 'shop'],
    ['https://user:password@git.example.com/team/shop', 'shop'],
    ['https://git.example.com/team/shop.git?private_token=tok4711', 'shop'],
    ['https://git.example.com/team/shop.git#tok4711', 'shop'],
    ['git@git.example.com:team/shop.git', 'shop'],
    ['git@git.example.com:shop.git', 'shop'],
    ['ssh://git@git.example.com:22/team/shop.git/', 'shop'],
    ['/srv/git/shop.git', 'shop'],
    ['C:\\git\\shop', 'shop'],
    ['"https://git.example.com/shop.git"', 'shop'],
  ])('the repository %s has the name %s', (url, name) => {
    const folder = makeFolder({
      '.git/config': `[core]\n\tbare = false\n[remote "origin"]\n\turl = ${url}\n\tfetch = +x\n`,
    })
    expect(repositoryName(folder)).toBe(name)
  })

  test.each([
    'https://user:tok4711@git.example.com/team/shop.git',
    'https://user:p@tok4711@git.example.com/team/shop.git',
    'https://tok4711@git.example.com/team/shop.git',
    'https://git.example.com/team/shop.git?private_token=tok4711',
    'https://git.example.com/team/shop.git/#tok4711',
  ])('the address of a repository has no credentials: %s', url => {
    const folder = makeFolder({ '.git/config': `[remote "origin"]\n\turl = ${url}\n` })
    expect(repositoryOf(folder)?.address).toBe('https://git.example.com/team/shop')
  })

  test('the remote `origin` gives the name before other remotes, even from an inner folder', () => {
    const config =
      '[remote "fork"]\n\turl = x/forked\n[remote "origin"]\n\turl = x/original\n[branch "url"]\n\turl = no\n'
    const folder = makeFolder({ '.git/config': config, 'a/b/compose.yaml': '' })
    expect(repositoryName(join(folder, 'a/b'))).toBe('original')
    expect(repositoryName(makeFolder({ '.git/config': '[remote "fork"]\nurl=x/forked' }))).toBe('forked')
  })

  test('a repository without a remote has the name of its top folder', () => {
    const folder = makeFolder({ '.git/config': '[core]\n' })
    mkdirSync(join(folder, 'a'))
    expect(repositoryName(join(folder, 'a'))).toBe(basename(folder))
    expect(repositoryName(`${makeFolder({ 'top/.git/HEAD': '' })}/top`)).toBe('top')
  })

  test('the name is found from a separate working tree', () => {
    const folder = makeFolder({
      'main/.git/config': '[remote "origin"]\n\turl = x/shop.git\n',
      'main/.git/worktrees/tree/commondir': '../..\n',
      'tree/.git': 'gitdir: ../main/.git/worktrees/tree\n',
    })
    expect(repositoryName(join(folder, 'tree'))).toBe('shop')
  })

  test('a folder outside of a repository has no repository name', () => {
    expect(repositoryName(makeFolder())).toBeUndefined()
    expect(repositoryName('/none/such')).toBeUndefined()
  })
})

describe('the Compose files in a folder', () => {
  test.each([
    [
      ['compose.yaml', 'compose.override.yml'],
      ['compose.yaml', 'compose.override.yml'],
    ],
    [['docker-compose.yaml', '.devctl/compose.yaml'], ['docker-compose.yaml']],
    [
      ['.devctl/compose.yml', '.devctl/docker-compose.override.yaml', 'compose.override.yml'],
      ['.devctl/compose.yml', '.devctl/docker-compose.override.yaml'],
    ],
    [['compose.override.yaml'], []],
  ])('the Compose files of %j are %j', (files, found) => {
    const folder = makeFolder(Object.fromEntries(files.map(path => [path, ''])))
    expect(composeFilesIn(folder)).toEqual(found)
  })
})
