import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ignoreFiles } from '../../../../develop/doctor/ignore-files.ts'
import { openProject } from '../../../../project/open-project.ts'
import { makeFolder } from '../../../support/cli/folder.ts'

async function ignoresOf(files: Readonly<Record<string, string>>, dev: string | undefined) {
  const home = makeFolder(files)
  const cwd = join(home, 'project')
  const env = { HOME: home, DEVCTL_HOME: join(home, 'devctl') }
  const workspace = { cwd, env, readStdin: async () => new Uint8Array() }
  const project = await openProject(workspace, {})
  return ignoreFiles(workspace, { project, dev, loading: {} })
}

const manifest = (sync: string) => ({ 'project/devctl.yml': `dev: {api: {sync: ["${sync}:/app"]}}\n` })
const compose = {
  'project/compose.yaml': 'services: {api: {image: node, volumes: ["./src:/app"]}}\n',
  'project/src/a.js': '',
  'project/src/.stignore': '*.log\n',
}

test.each<[string, Readonly<Record<string, string>>, string | undefined, readonly (readonly [string, string])[]]>([
  [
    'a folder of the manifest',
    { ...manifest('src'), 'project/src/.stignore': '*.log\n' },
    'api',
    [['ignore/0.stignore', '// src\n*.log\n']],
  ],
  [
    'a folder in the home folder',
    { ...manifest('~/src'), 'src/.stignore': '*.log\n' },
    'api',
    [['ignore/0.stignore', '// ~/src\n*.log\n']],
  ],
  ['a host volume', compose, 'api', [['ignore/0.stignore', '// src\n*.log\n']]],
  [
    'a host volume of a declared container without `sync`',
    { ...compose, 'project/devctl.yml': 'dev: {api: {command: sh}}\n' },
    'api',
    [['ignore/0.stignore', '// src\n*.log\n']],
  ],
  [
    'a folder with an included file',
    { ...manifest('.'), 'project/.stignore': '#include ./more\n', 'project/more': 'x\n' },
    'api',
    [
      ['ignore/0.stignore', '// .\n#include ./more\n'],
      ['ignore/0/more', '// .\nx\n'],
    ],
  ],
  [
    'the working directory of an unknown container',
    { 'project/.stignore': '*.log\n' },
    undefined,
    [['ignore/0.stignore', '// .\n*.log\n']],
  ],
])('the report has the ignore file of %s', async (_, files, dev, expected) => {
  expect(await ignoresOf(files, dev)).toEqual(expected)
})

test('the report says if there is no ignore file', async () => {
  await expect(ignoresOf({ ...manifest('.'), 'project/a': '' }, 'api')).rejects.toThrow('there is none')
})
