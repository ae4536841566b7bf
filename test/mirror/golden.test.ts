import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { readManifest } from '../../compiler/manifest/read.ts'
import { mirror } from '../../constructs/mirror/mirror.ts'
import { INSTALL } from '../../constructs/mirror/scripts.ts'
import type { LiveObject, MirrorFacts } from '../../constructs/mirror/settings.ts'
import { printStream } from '../../constructs/yaml.ts'
import { settingsOf } from '../../operations/develop/settings.ts'
import { listed } from '../../operations/develop/try-out.ts'
import { createHost } from '../../operations/project/node-host.ts'
import { expectFile } from '../written-file.ts'
import { facts } from './settings.ts'

// Each folder of test/mirror/cases is a rule: original.yaml has the live object, then those of `services`; devctl.yml the manifest;
// facts.yml what differs from the usual; mirror.yaml what comes of them, without the Secret's data, and with the scripts of ours
// shortened. `npx vitest run test/mirror -u` updates them; read the diff.

const folder = join(import.meta.dirname, 'cases')

const read = (name: string, file: string) => readFileSync(join(folder, name, file), 'utf8')

function originalsOf(name: string): readonly LiveObject[] {
  if (!existsSync(join(folder, name, 'original.yaml'))) return []
  return parseAllDocuments(read(name, 'original.yaml')).map(document => document.toJS() as LiveObject) // objects of a cluster
}

function factsOf(name: string): Partial<MirrorFacts> {
  if (!existsSync(join(folder, name, 'facts.yml'))) return {}
  const { claims, ...more } = parse(read(name, 'facts.yml')) as Partial<MirrorFacts> & { claims?: readonly string[] } // written for this test
  return { ...more, ...(claims && { claims: new Set(claims) }) } as Partial<MirrorFacts>
}

describe('golden mirrors', () => {
  for (const name of readdirSync(folder).sort()) {
    test(name, async () => {
      const path = join(folder, name, 'devctl.yml')
      const { manifest, diagnostics } = readManifest(
        { path, workingDirectory: join(folder, name) },
        createHost({ env: {} }),
      )
      expect(diagnostics.map(({ message }) => message)).toEqual([])
      const [development] = [...manifest!.dev.values()]
      const [original, ...services] = originalsOf(name)
      const settings = settingsOf(development!, {
        variables: ({ environment }) => environment.map(({ name, value }) => ({ name, value })),
      })
      const made = mirror(original, settings, facts({ ...factsOf(name), services }))
      const objects = listed(made).map(object => ({
        source: `devctl.yml#dev.${development!.name}`,
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
    // Kubernetes' escapes are in them.
    if (typeof value !== 'string' || !value.includes('\n')) return value
    if (value.startsWith(INSTALL.slice(0, 40)))
      return `<puts busybox, hold.sh and run.sh into the volume>\n${value.split('END_OF_SCRIPT\n').at(-1)}`.trim()
    const fills = [...value.matchAll(/^from=(.*)\nto=(.*)$/gm)]
    return fills.length === 0 ? value : fills.map(([, from, to]) => `<fills ${to} from ${from}>`).join('\n')
  })
  return JSON.parse(text) as T
}
