import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parse, parseAllDocuments } from 'yaml'
import { readManifest } from '../../../compiler/manifest/read.ts'
import { mirror } from '../../../constructs/mirror/mirror.ts'
import type { LiveObject, MirrorFacts, MirrorObjects } from '../../../constructs/mirror/settings.ts'
import { settingsOf } from '../../../develop/mirror/settings.ts'
import { createHost } from '../../../project/node-host.ts'
import { facts } from './settings.ts'

/** Each folder is a case. */
export const folder = join(import.meta.dirname, 'cases')

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

export const caseNames = (): readonly string[] => readdirSync(folder).sort()

/** The name of the development container of a case, and its mirror; throws where its manifest has a mistake. */
export function mirrorOf(
  name: string,
  more: Partial<MirrorFacts> = {},
): { readonly development: string; readonly made: MirrorObjects } {
  const path = join(folder, name, 'devctl.yml')
  const { manifest, diagnostics } = readManifest(
    { path, workingDirectory: join(folder, name) },
    createHost({ env: {} }),
  )
  if (diagnostics.length > 0) throw new Error(diagnostics.map(({ message }) => message).join('\n'))
  const [development] = [...manifest!.dev.values()]
  const [original, ...services] = originalsOf(name)
  const settings = settingsOf(development!, {
    variables: ({ environment }) => environment.map(({ name, value }) => ({ name, value })),
    pathHere: local => resolve('/project', local),
  })
  const made = mirror(original, settings, facts({ ...factsOf(name), services, ...more }))
  return { development: development!.name, made }
}
