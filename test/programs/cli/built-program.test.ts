import { isAscii } from 'node:buffer'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { root } from '../../support/cases.ts'
import { program as programPath } from '../../support/program.ts'
import { few } from '../../support/takes-all.ts'

const program = programPath()
const files = join(program, '../../dist/bin')

describe('the built program', () => {
  const parts = readdirSync(files).filter(file => file.endsWith('.cjs'))

  test.each([
    [
      'the agent for proxies',
      'http://127.0.0.1:9',
      'no connection to `https://cluster.example.com`: the proxy `127.0.0.1:9`',
    ],
    ['the library for SOCKS', 'socks5://127.0.0.1:9', 'error: '],
  ])('the built program finds %s', (_, proxy, message) => {
    const folder = folderWith({
      config: JSON.stringify({
        'current-context': 'x',
        contexts: [{ name: 'x', context: { cluster: 'x', user: 'x' } }],
        clusters: [{ name: 'x', cluster: { server: 'https://cluster.example.com', 'proxy-url': proxy } }],
        users: [{ name: 'x', user: {} }],
      }),
      'compose.yaml': 'name: x\nservices: {web: {image: "a:1"}}\n',
    })
    const { status, stderr } = run(folder, [program, 'deploy'])
    expect(stderr).toContain(message)
    expect(stderr).not.toContain('bug of devctl')
    expect(status).toBe(1)
  })

  test('the built program finds the names of a CommonJS package that is imported late', () => {
    const folder = folderWith({
      'devctl.yml': 'name: x\nenvironments:\n  dev:\n    repository: https://git.example.com/x.git\n',
      'compose.yaml': 'services: {web: {image: "a:1", environment: {DB_PASSWORD: geheim123}}}\n',
    })
    const answer = 'services.web.environment.DB_PASSWORD=x/password'
    const words = ['gitops', 'secrets', '--environment', 'dev', '--secret', answer, '--dry-run']
    const { stdout, stderr } = run(folder, [program, ...words])
    expect(stderr).not.toContain('bug of devctl')
    expect(stdout).toContain('services.web.environment.DB_PASSWORD')
  })

  test('the built program is ASCII, as bin/devctl.cjs reads it', () => {
    const others = parts.filter(file => !isAscii(readFileSync(join(files, file))))
    expect(others).toEqual([])
  })

  test('the built program loads all of its files, but few of them at its start', () => {
    const script = `
      const { statSync } = require('node:fs')
      const { load, loaded, scripts } = require(${JSON.stringify(program)})
      load('devctl.cjs')
      const size = [...scripts.keys()].reduce((sum, name) => sum + statSync(name).size, 0)
      for (const file of ${JSON.stringify(parts)}) load(file)
      console.log(JSON.stringify({ size, count: loaded.size }))`
    const { stdout, stderr } = run(files, ['-e', script])
    expect(stderr).toBe('')
    const { size, count } = JSON.parse(stdout)
    expect(count).toBe(parts.length)
    // A start loads the command declarations (110 kB), the command line parser (40 kB) and the masking of secrets.
    expect(size).toBeLessThan(195_000)
  })

  test.each(['deploy ', 'deploy --environment ', 'context use ', 'explain ', 'pipeline deploy --branch '])(
    'completing `%s` loads no compiler, which takes longer than a user waits',
    line => {
      const script = `
      const { statSync } = require('node:fs')
      const { load, scripts } = require(${JSON.stringify(program)})
      const io = { stdout: { write() {} }, stderr: { write() {} }, env: process.env, cwd: process.cwd() }
      load('devctl.cjs').main(['__complete', 'fish', ...${JSON.stringify(line.split(' '))}], io).then(() => {
        const sizes = [...scripts.keys()].map(name => statSync(${JSON.stringify(files)} + '/' + name).size)
        console.log(sizes.reduce((sum, size) => sum + size))
        process.exit()
      })`
      const { stdout, stderr } = run(join(root, 'examples/shop'), ['-e', script])
      expect(stderr).toBe('')
      // The start, the declarations, and the reader of YAML (60 kB).
      expect(Number(stdout)).toBeLessThan(357_000)
    },
  )
})

describe('example programs', () => {
  test.each(few(['deploy', 'publish']))('the types of `devctl/operations` fit the example %s', name => {
    const words =
      '--ignoreConfig --noEmit --checkJs --strict --skipLibCheck --module nodenext --target es2023 --types node'
    const tsc = join(root, 'node_modules/.bin/tsc')
    const { stdout, status } = run(root, [tsc, ...words.split(' '), join(root, `examples/program/${name}.mjs`)])
    expect(stdout).toBe('')
    expect(status).toBe(0)
  })
})

function folderWith(contents: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'devctl-built-'))
  for (const [name, text] of Object.entries(contents)) writeFileSync(join(folder, name), text)
  return folder
}

function run(cwd: string, words: readonly string[]) {
  const env = { PATH: process.env.PATH, HOME: cwd, KUBECONFIG: join(cwd, 'config') }
  return spawnSync(process.execPath, words, { cwd, encoding: 'utf8', env })
}
