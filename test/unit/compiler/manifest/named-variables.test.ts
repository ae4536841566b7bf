import { expect, test } from 'vitest'
import { readManifest } from '../../../../compiler/manifest/read.ts'
import { createHost } from '../../../../project/node-host.ts'
import { makeFolder } from '../../../support/cli/folder.ts'

const read = (text: string) => {
  const folder = makeFolder({ 'devctl.yml': text })
  const { manifest, diagnostics } = readManifest(
    { path: `${folder}/devctl.yml`, workingDirectory: folder },
    createHost({ env: {} }),
  )
  return { named: [...(manifest?.variables ?? [])].sort(), diagnostics }
}

test('a manifest names the variables in its list and those that its commands refer to', () => {
  const { named, diagnostics } = read(`variables: [API_KEY, PORT]
deploy:
  - echo $ONE "\${TWO}" \${THREE:-x} \${#FOUR} \${!FIVE} $\{SIX%%/*}
  - {name: two, command: "make -C $DIR PORT"}
destroy: ["helm uninstall $RELEASE"]
`)
  expect(diagnostics).toEqual([])
  expect(named).toEqual(['API_KEY', 'DIR', 'FIVE', 'FOUR', 'ONE', 'PORT', 'RELEASE', 'SIX', 'THREE', 'TWO'])
})

test('a word of a command is not the name of a variable', () => {
  expect(read('deploy: ["FLASK_APP=app flask run; printenv MAKE"]\n').named).toEqual([])
})

test.each(['A-B', '1A', '"A B"', '""'])('`%s` cannot be in the list', name => {
  const { diagnostics } = read(`variables: [${name}]\ndeploy: ["true"]\n`)
  expect(diagnostics[0]).toMatchObject({ severity: 'error' })
})
