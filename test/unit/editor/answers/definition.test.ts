import { statSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { definitionAt, type KindOfPath } from '../../../../editor/answers/definition.ts'
import { ask } from '../../../support/editor/ask.ts'

const kindOf: KindOfPath = path => {
  const found = statSync(path, { throwIfNoEntry: false })
  return found?.isFile() ? 'file' : found && 'folder'
}

/** Returns the position of the definition as `FILE:LINE:COLUMN`, counted from 1. */
async function definition(files: Readonly<Record<string, string>>): Promise<string> {
  const { asked, offset, folder } = await ask(files)
  const found = definitionAt(asked, offset, kindOf)
  if (!found) return 'nothing'
  const { line, character } = found.range.start
  return `${relative(folder, fileURLToPath(found.uri))}:${line + 1}:${character + 1}`
}

const REST = `
  db:
    image: postgres
volumes:
  data: {}
networks:
  front: {}
secrets:
  token: {file: ./token.txt}
configs:
  page: {file: ./token.txt}
`
const OTHERS = {
  'token.txt': 'x',
  'web.env': 'A=1\nOF_SERVICE=1\n',
  '.env': 'X=1\nTAG=2\n',
  'app/Dockerfile': 'FROM scratch\n',
  'common.yaml': 'services:\n  base:\n    image: x\n',
}

describe('definitionAt', () => {
  test.each<readonly [string, string]>([
    ['depends_on: [d‸b]', 'compose.yaml:5:3'],
    ['depends_on: {d‸b: {condition: service_started}}', 'compose.yaml:5:3'],
    ['links: ["d‸b:alias"]', 'compose.yaml:5:3'],
    ['network_mode: "service:d‸b"', 'compose.yaml:5:3'],
    ['extends: {service: d‸b}', 'compose.yaml:5:3'],
    ['extends: {file: common.yaml, service: ba‸se}', 'common.yaml:2:3'],
    ['extends: {file: comm‸on.yaml, service: base}', 'common.yaml:1:1'],
    ['volumes: ["da‸ta:/x"]', 'compose.yaml:8:3'],
    ['volumes: [{type: volume, source: da‸ta, target: /x}]', 'compose.yaml:8:3'],
    ['volumes: ["./tok‸en.txt:/x"]', 'token.txt:1:1'],
    ['networks: [fro‸nt]', 'compose.yaml:10:3'],
    ['networks: {fro‸nt: {}}', 'compose.yaml:10:3'],
    ['secrets: [tok‸en]', 'compose.yaml:12:3'],
    ['configs: [{source: pa‸ge}]', 'compose.yaml:14:3'],
    ['env_file: web‸.env', 'web.env:1:1'],
    ['env_file: [{path: web‸.env}]', 'web.env:1:1'],
    ['build: ./a‸pp', 'app/Dockerfile:1:1'],
    ['image: "x:${T‸AG}"', '.env:2:1'],
    ['image: x:$T‸AG', '.env:2:1'],
    ['environment: {Y: "${OF‸_SERVICE}"}', 'nothing'],
    ['image: x‸', 'nothing'],
    ['depends_on: [mis‸sing]', 'nothing'],
    ['env_file: mis‸sing.env', 'nothing'],
    ['env_file: ‸', 'nothing'],
  ])('leads from %j to %s', async (line, expected) => {
    const image = line.startsWith('image') || line.startsWith('build') ? 'labels: {}' : 'image: x'
    const text = `services:\n  web:\n    ${image}\n    ${line}${REST}`
    expect(await definition({ 'compose.yaml': text, ...OTHERS })).toBe(expected)
  })

  test('a variable does not lead to the env file of a service', async () => {
    const text = (name: string) => `services:\n  web:\n    image: x:$${name}\n    env_file: [web.env, .env.web]\n`
    const files = { ...OTHERS, '.env.web': 'OF_WEB=1\n' }
    expect(await definition({ 'compose.yaml': text('OF_SER‸VICE'), ...files })).toBe('nothing')
    expect(await definition({ 'compose.yaml': text('OF_W‸EB'), ...files })).toBe('nothing')
    expect(await definition({ 'compose.yaml': text('TA‸G'), ...files })).toBe('.env:2:1')
  })

  test('leads from an alias to its anchor, also in a merge key', async () => {
    const base = 'x-a: &base\n  image: x\nservices:\n  web:\n'
    expect(await definition({ 'compose.yaml': `${base}    <<: *ba‸se\n` })).toBe('compose.yaml:1:6')
    expect(await definition({ 'compose.yaml': `${base.replace('web:\n', 'web: *b‸ase\n')}` })).toBe('compose.yaml:1:6')
  })

  test('leads to a service of an included file, and to the file', async () => {
    const file = (text: string) =>
      definition({ 'compose.yaml': text, 'other/more.yaml': 'services:\n  api:\n    image: x\n' })
    expect(await file('include: [other/more.yaml]\nservices:\n  web: {image: x, depends_on: [a‸pi]}\n')).toBe(
      'other/more.yaml:2:3',
    )
    expect(await file('include: [other/mo‸re.yaml]\nservices:\n  web: {image: x}\n')).toBe('other/more.yaml:1:1')
  })

  test('leads from a manifest to Compose files and services', async () => {
    const manifest = (text: string) =>
      definition({ 'devctl.yml': text, 'compose.yaml': 'services:\n  web:\n    image: x\n' })
    expect(await manifest('deploy:\n  compose: comp‸ose.yaml\n')).toBe('compose.yaml:1:1')
    expect(await manifest('deploy:\n  compose: compose.yaml\ndev:\n  we‸b: {}\n')).toBe('compose.yaml:2:3')
  })

  test.each([
    ['depends_on: [d‸b]', 'compose.yaml:5:3'],
    ['volumes: ["da‸ta:/x"]', 'compose.yaml:8:3'],
    ['secrets: [tok‸en]', 'compose.yaml:12:3'],
    ['env_file: web‸.env', 'web.env:1:1'],
  ])('leads from %s in a job to its definition', async (line, expected) => {
    const job = `jobs:\n  import:\n    image: x\n    ${line}\n`
    const text = `services:\n  web:\n    image: x\n${REST}${job}`
    expect(await definition({ ...OTHERS, 'compose.yaml': text })).toBe(expected)
  })
})
