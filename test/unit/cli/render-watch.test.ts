import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import type { LogLevel } from '../../../cli/command.ts'
import { commands } from '../../../cli/commands.ts'
import { renderOnChanges } from '../../../cli/run/render-watch.ts'
import { makeFolder, read, write } from '../../support/cli/folder.ts'
import { run } from '../../support/run.ts'

/** Starts `render --watch` in a folder. `said` has its output. */
function start(cwd: string, more: object = {}, logLevel: LogLevel = 'warn') {
  const ending = new AbortController()
  const said = { text: '' }
  const output = {
    isTTY: false,
    write: (text: string) => {
      said.text += text
    },
  }
  const io = { stdout: output, stderr: output, readStdin: async () => new Uint8Array(), env: {}, cwd }
  const context = { io, logLevel, commands, help: () => undefined }
  const options = { outputDir: 'k8s', watch: true, ...more } as unknown as Parameters<typeof renderOnChanges>[2]
  const ended = renderOnChanges(context, [], options, { signal: ending.signal, stop: () => {} })
  return { said, ended, end: () => ending.abort(new Error('interrupted')) }
}

const until = (check: () => void) => vi.waitFor(check, { timeout: 20_000, interval: 20 })

test('render --watch renders again after a change of each input, and continues after errors', {
  timeout: 60_000,
}, async () => {
  const compose = (image: string) => `include: [more.yaml]\nservices: {web: {image: "${image}"}}\n`
  const cwd = makeFolder({
    'compose.yaml': compose('nginx:$' + '{TAG}'),
    'more.yaml': 'services: {api: {image: a}}\n',
    '.env': 'TAG=1\n',
  })
  const { said, ended, end } = start(cwd)
  const deployment = () => read(join(cwd, 'k8s'))['web/deployment-web.yaml']
  await until(() => expect(said.text).toContain('watching for changes'))
  expect(deployment()).toContain('nginx:1')

  write(cwd, { '.env': 'TAG=2\n' })
  await until(() => expect(said.text).toContain('.env changed: 1 written, 0 removed, '))
  expect(deployment()).toContain('nginx:2')

  write(cwd, { 'compose.yaml': 'include: [more.yaml]\nservices: {web: {imagee: x}}\n' })
  await until(() => expect(said.text).toContain('compose.yaml changed: '))
  await until(() => expect(said.text).toContain('nothing was rendered'))
  write(cwd, { 'compose.yaml': compose('nginx:3') })
  await until(() => expect(deployment()).toContain('nginx:3'))

  write(cwd, { 'more.yaml': 'services: {api: {image: b}}\n' })
  await until(() => expect(said.text).toContain('more.yaml changed: 1 written'))
  write(cwd, { 'compose.override.yaml': 'services: {web: {image: "nginx:4"}}\n' })
  await until(() => expect(deployment()).toContain('nginx:4'))
  rmSync(join(cwd, 'compose.override.yaml'))
  await until(() => expect(deployment()).toContain('nginx:3'))

  rmSync(join(cwd, 'compose.yaml'))
  await until(() => expect(said.text).toContain('compose.yaml changed: error: there is no Compose file'))
  write(cwd, { 'compose.yaml': compose('nginx:5') })
  await until(() => expect(deployment()).toContain('nginx:5'))

  end()
  expect(await ended).toBe(130)
})

const WEB = 'services: {web: {image: nginx}}\n'

test.each<readonly [name: string, before: Record<string, string>, more: object, fix: Record<string, string>]>([
  ['has no Compose file', {}, {}, { 'compose.yaml': WEB }],
  ['lacks the file of `-f`', {}, { file: ['app/web.yaml'] }, { 'app/web.yaml': WEB }],
  ['lacks an included file', { 'compose.yaml': 'include: [web.yaml]\n' }, {}, { 'web.yaml': WEB }],
  ['has a broken manifest', { 'compose.yaml': WEB, 'devctl.yml': 'deploy: [\n' }, {}, { 'devctl.yml': 'name: a\n' }],
  [
    'has a broken manifest in `.devctl`',
    { 'compose.yaml': WEB, '.devctl/devctl.yml': 'deploy: [\n' },
    {},
    { '.devctl/devctl.yml': 'name: a\n' },
  ],
  [
    'lacks the environment',
    { 'compose.yaml': WEB, 'devctl.yml': 'name: a\n' },
    { environment: 'test' },
    { 'devctl.yml': 'environments: {test: {namespace: a}}\n' },
  ],
])(
  'render --watch renders once a project that first %s is right',
  { timeout: 30_000 },
  async (_, before, more, fix) => {
    const cwd = makeFolder({ 'README.md': '', 'app/README.md': '', ...before })
    const { said, ended, end } = start(cwd, more)
    await until(() => expect(said.text).toContain('watching for changes'))
    expect(said.text).toMatch(/error/)
    write(cwd, fix)
    await until(() => expect(said.text).toContain(`${Object.keys(fix)[0]} changed: `))
    expect(Object.keys(read(join(cwd, 'k8s')))).toContain('web/deployment-web.yaml')
    end()
    await ended
  },
)

test.each(['kustomize', 'json', 'yaml'])('render --watch writes the same files as render: %s', async output => {
  const cwd = makeFolder({ 'compose.yaml': 'services: {web: {image: nginx}}\n' })
  const rendered = await run(['render', '--output-dir', 'k8s', '-o', output], { cwd })
  expect(rendered.status, rendered.stderr).toBe(0)
  const files = read(join(cwd, 'k8s'))
  const { said, ended, end } = start(cwd, { output })
  await until(() => expect(said.text).toContain('watching for changes'))
  end()
  await ended
  expect(said.text).toMatch(/^0 written, 0 removed, /)
  expect(read(join(cwd, 'k8s'))).toEqual(files)
})

test('render --watch prints only errors at the log level `error`', async () => {
  const cwd = makeFolder({ 'compose.yaml': WEB })
  const { said, ended, end } = start(cwd, {}, 'error')
  await until(() => expect(Object.keys(read(join(cwd, 'k8s')))).toContain('web/deployment-web.yaml'))
  end()
  await ended
  expect(said.text).toBe('')
})

test.each([
  ['the option', ['-f', '-'], {}],
  ['one of several options', ['-f', 'compose.yaml', '-f', '-'], {}],
  ['COMPOSE_FILE', [], { COMPOSE_FILE: '-' }],
])('`--watch` refuses standard input, which cannot be watched, from %s', async (_, options, env) => {
  const cwd = makeFolder({ 'compose.yaml': 'services: {web: {image: nginx}}\n' })
  const stdin = 'services: {web: {image: nginx}}\n'
  const { status, stderr } = await run(['render', '--watch', '--output-dir', 'k8s', ...options], { cwd, env, stdin })
  expect(status).toBe(2)
  expect(stderr).toBe(`error: \`--watch\` cannot watch standard input, which is read once
  = help: name a file with \`-f\`, or leave \`--watch\` out
`)
})

test('`--watch` needs a folder to write to', async () => {
  const cwd = makeFolder({ 'compose.yaml': 'services: {web: {image: nginx}}\n' })
  expect(await run(['render', '--watch'], { cwd })).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('add `--output-dir FOLDER`'),
  })
})
