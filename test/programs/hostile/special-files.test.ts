import { execFileSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { compileWatched } from '../../support/hostile/watched.ts'
import { few } from '../../support/takes-all.ts'

const web = 'services:\n  web:\n    image: nginx\n'
const built = 'services: {web: {build: .}}\n'
const pipe = (name: string) => (folder: string) => void execFileSync('mkfifo', [join(folder, name)])
const link = (to: string, name: string) => (folder: string) => symlinkSync(to, join(folder, name))
const loops = (folder: string) => {
  link('..', 'd/up')(folder)
  link('self', 'd/self')(folder)
}

/** Inputs that are not plain files or not plain text, with the error code; none if the project compiles. */
const cases: readonly (readonly [
  what: string,
  files: Readonly<Record<string, string | Uint8Array>>,
  prepare: ((folder: string) => void) | undefined,
  code?: string,
])[] = [
  ['a pipe as env file', { 'compose.yaml': `${web}    env_file: x\n` }, pipe('x'), 'files/unreadable'],
  ['links in circles in a context', { 'compose.yaml': built, Dockerfile: 'FROM x\n', 'd/a': '' }, loops],
  ['a pipe as mount', { 'compose.yaml': `${web}    volumes: ["./x:/x"]\n` }, pipe('x')],
  ['a pipe in a context', { 'compose.yaml': built, Dockerfile: 'FROM x\nCOPY . .\n' }, pipe('x')],
  ['links in circles in a mount', { 'compose.yaml': `${web}    volumes: ["./d:/d"]\n`, 'd/a': 'x' }, loops],
  ['a link to itself', { 'compose.yaml': `${web}    env_file: x\n` }, link('x', 'x'), 'files/unreadable'],
  ['UTF-16', { 'compose.yaml': Buffer.from(`\ufeff${web}`, 'utf16le') }, undefined],
  ['half a character', { 'compose.yaml': Buffer.from([0x61, 0x3a, 0xc3, 0x28]) }, undefined, 'files/not-utf8'],
  [
    'names of the language',
    {
      'compose.yaml': `services:\n  constructor: {image: a, environment: {__proto__: a}, depends_on: [toString]}\n  __proto__: {image: x}\n`,
    },
    undefined,
    'reference/undefined',
  ],
  ['a pipe as .env', { 'compose.yaml': web }, pipe('.env')],
  ['a pipe as .dockerignore', { 'compose.yaml': built, Dockerfile: 'FROM x\n' }, pipe('.dockerignore')],
  ['a pipe as include', { 'compose.yaml': `include: [x]\n${web}` }, pipe('x'), 'files/unreadable'],
  [
    'a pipe as config',
    { 'compose.yaml': `${web}    configs: [c]\nconfigs: {c: {file: x}}\n` },
    pipe('x'),
    'configs/file-not-found',
  ],
  ['a pipe in a mount', { 'compose.yaml': `${web}    volumes: ["./d:/d"]\n`, 'd/a': 'x' }, pipe('d/x')],
  ['a folder as env file', { 'compose.yaml': `${web}    env_file: d\n`, 'd/a': '' }, undefined, 'files/is-a-folder'],
  ['UTF-16, the other way round', { 'compose.yaml': Buffer.from(`\ufeff${web}`, 'utf16le').swap16() }, undefined],
  ['CRLF after a byte order mark', { 'compose.yaml': `\ufeff${web.replaceAll('\n', '\r\n')}` }, undefined],
  ['a NUL', { 'compose.yaml': `${web}    user: "a\0"\n` }, undefined, 'yaml/syntax'],
  ['an escaped NUL in a path', { 'compose.yaml': `${web}    env_file: "a\\0"\n` }, undefined, 'files/not-found'],
]

// Most of the time is spent waiting for a pipe that has no writer.
test
  .skipIf(process.platform === 'win32')
  .concurrent.each(few(cases, 2).map(([what, files, prepare, code]) => ({ what, files, prepare, code })))(
  '$what ends in manifests or in diagnostics',
  { timeout: 60_000 },
  async ({ files, prepare, code }) => {
    const { status, stderr } = await compileWatched(files, prepare)
    expect(status, stderr).toBe(code === undefined ? 0 : 1)
    if (code !== undefined) expect(stderr).toContain(`error[${code}]`)
  },
)

test.skipIf(process.platform === 'win32')('a project with a socket in its build context compiles', async () => {
  const server = createServer()
  const listen = (folder: string) => void server.listen(join(folder, 'socket'))
  try {
    const { status, stderr } = await compileWatched({ 'compose.yaml': built, Dockerfile: 'FROM x\n' }, listen)
    expect(status, stderr).toBe(0)
  } finally {
    server.close()
  }
})
