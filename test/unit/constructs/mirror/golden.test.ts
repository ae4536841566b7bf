import { join } from 'node:path'
import { describe, test } from 'vitest'
import { INSTALL } from '../../../../constructs/mirror/scripts.ts'
import { printStream } from '../../../../constructs/yaml.ts'
import { listed } from '../../../../develop/session/try-out.ts'
import { caseNames, folder, mirrorOf } from '../../../support/mirror/mirror-cases.ts'
import { expectFile } from '../../../support/written-file.ts'

// Each folder of test/support/mirror/cases is a rule: original.yaml has the live object, then those of `services`;
// devctl.yml has the manifest; facts.yml has the facts that differ from the usual ones; mirror.yaml has the resulting
// objects, without the data of the Secret and with our scripts shortened. `npx vitest run test/unit/constructs/mirror
// -u` updates them; read the diff.

describe('golden mirrors', () => {
  for (const name of caseNames()) {
    test(name, async () => {
      const { development, made } = mirrorOf(name)
      const objects = listed(made).map(object => ({
        source: `devctl.yml#dev.${development}`,
        folder: '',
        object: shortened(object),
      }))
      const notes = made.notes.map(note => `# ${note}\n`).join('')
      await expectFile(`${notes}${printStream(objects)}`, join(folder, name, 'mirror.yaml'))
    })
  }
})

function shortened<T>(object: T): T {
  const text = JSON.stringify(object, (key, value) => {
    if (key === 'data') return '<the program and its session>'
    // Scripts contain the escapes of Kubernetes.
    if (typeof value !== 'string' || !value.includes('\n')) return value
    if (value.startsWith(INSTALL.slice(0, 40)))
      return `<puts busybox, hold.sh and run.sh into the volume>\n${value.split('END_OF_SCRIPT\n').at(-1)}`.trim()
    const fills = [...value.matchAll(/^from=(.*)\nto=(.*)$/gm)]
    return fills.length === 0 ? value : fills.map(([, from, to]) => `<fills ${to} from ${from}>`).join('\n')
  })
  return JSON.parse(text) as T
}
