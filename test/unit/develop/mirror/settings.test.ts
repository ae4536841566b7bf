import { expect, test } from 'vitest'
import { readManifest } from '../../../../compiler/manifest/read.ts'
import { pathHere } from '../../../../develop/files/sync-folders.ts'
import { settingsOf } from '../../../../develop/mirror/settings.ts'
import { createHost } from '../../../../project/node-host.ts'
import { makeFolder } from '../../../support/cli/folder.ts'

/** The folders of an additional container, or the messages about them. `HERE` is the folder of the manifest. */
function foldersOf(main: string, own: string) {
  const folder = makeFolder()
  const path = `${folder}/devctl.yml`
  const text = `dev: {api: {sync: ["${main}:/app"], services: [{name: worker, sync: ["${own}:/x"]}]}}`
  const bytes = new TextEncoder().encode(text.replaceAll('HERE', folder))
  const { manifest, diagnostics } = readManifest(
    { path, workingDirectory: folder },
    { ...createHost({ env: {} }), readFile: () => ({ kind: 'file', bytes }) },
  )
  const settings = settingsOf(manifest!.dev.get('api')!, {
    variables: () => [],
    pathHere: local => pathHere(local, folder, { HOME: '/home/ann' }),
  })
  return diagnostics.length > 0
    ? diagnostics.map(({ code }) => code)
    : settings.services.flatMap(({ folders }) => folders.map(({ path, directory }) => `${directory} at ${path}`))
}

test.each([
  ['.', '.', 'src/0 at /x'],
  ['.', 'worker', 'src/0/worker at /x'],
  ['.', './worker/', 'src/0/worker at /x'],
  ['.', '.config', 'src/0/.config at /x'],
  ['.', './.github', 'src/0/.github at /x'],
  ['.', 'HERE/worker', 'src/0/worker at /x'],
  ['HERE', 'worker', 'src/0/worker at /x'],
  ['src', 'lib/../src/a', 'src/0/a at /x'],
  ['..', '../other', 'src/0/other at /x'],
  ['~/code', '~/code/worker', 'src/0/worker at /x'],
  ['.', '../other', 'manifest/outside-sync'],
  ['.', '~/other', 'manifest/outside-sync'],
  ['src', 'src2', 'manifest/outside-sync'],
])('with `%s` in the main container, `%s` in an additional container is: %s', (main, own, expected) => {
  expect(foldersOf(main, own)).toEqual([expected])
})

test('an additional container uses the nearest folder of the main container', () => {
  expect(foldersOf('.:/all", "src', './src/a')).toEqual(['src/1/a at /x'])
})
