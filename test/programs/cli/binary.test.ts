import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { root } from '../../support/cases.ts'
import { makeFolder } from '../../support/cli/folder.ts'
import { program } from '../../support/program.ts'

const main = program()
const many = `services:\n${Array.from({ length: 300 }, (_, i) => `  s${i}:\n    image: nginx:1.27\n    ports: [80]\n`).join('')}`

// These tests run the program as npm does, each in its own process.
describe('the program', () => {
  test('the program starts through a link and returns its status', () => {
    const link = join(makeFolder(), 'devctl')
    symlinkSync(main, link)
    const version = spawnSync(process.execPath, [link, 'version'], { encoding: 'utf8' })
    expect(version).toMatchObject({ status: 0, stdout: expect.stringMatching(/^devctl \d/), stderr: '' })
    const wrong = spawnSync(process.execPath, [link, 'rendr'], { encoding: 'utf8' })
    expect(wrong).toMatchObject({ status: 2, stdout: '', stderr: expect.stringContaining('did you mean `render`?') })
  })

  test('a clone that is not built reports the missing build', () => {
    const folder = makeFolder({ 'bin/devctl.cjs': readFileSync(main, 'utf8') })
    const { status, stderr } = spawnSync(process.execPath, [join(folder, 'bin/devctl.cjs')], { encoding: 'utf8' })
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: 'error: devctl is not built\n  = help: run `npm run build`\n',
    })
  })

  describe('options of the program that Node.js has, too', () => {
    const devctl = (...words: string[]) => {
      const cwd = makeFolder({
        'compose.yaml': 'services: {web: {image: "nginx:${TAG}"}}\n',
        'app.env': 'NODE_OPTIONS=--require ./evil.js\nTAG=1.27\n',
        'evil.js': 'console.log("loaded")\n',
      })
      return spawnSync(main, words, { cwd, encoding: 'utf8' })
    }

    test.each([['--env-file', 'app.env'], ['--env-file=app.env']])('render %s %s loads no code', (...words) => {
      const { status, stdout } = devctl('render', ...words)
      expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringContaining('nginx:1.27') })
      expect(stdout).not.toContain('loaded')
    })

    test('the program reports a missing --env-file itself', () => {
      const { status, stderr } = devctl('render', '--env-file', 'missing.env')
      expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringMatching(/^error.*missing\.env/) })
    })

    test('the program does not know an option that only Node.js has', () => {
      const { status, stderr } = devctl('render', '--env-file-if-exists', 'app.env')
      expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining('`--env-file-if-exists`') })
    })
  })

  // A separate process has loaded nothing else that declares diagnostics.
  test('explain lists every code of docs/diagnostics', () => {
    const { stdout } = spawnSync(process.execPath, [main, 'explain'], { encoding: 'utf8' })
    const folder = join(root, 'docs/diagnostics')
    const pages = readdirSync(folder).map(name => readFileSync(join(folder, name), 'utf8'))
    expect(stdout.match(/^\S+/gm)).toEqual(
      [...pages.join('').matchAll(/^## (\S+\/\S+)$/gm)].map(([, code]) => code).sort(),
    )
  })

  test('render reads standard input, and ends quietly when its output is closed', () => {
    const folder = makeFolder({ 'compose.yaml': many })
    const command = `"${process.execPath}" "${main}" render -f - < compose.yaml | head -n 1; echo "\${PIPESTATUS[0]}"`
    const { stdout, stderr } = spawnSync('bash', ['-c', command], { cwd: folder, encoding: 'utf8' })
    expect(stdout).toBe('# standard input#services.s0.ports\n0\n')
    expect(stderr).not.toMatch(/EPIPE|at /)
  })

  test.each(['<(cat compose.yaml)', '/dev/stdin < <(cat compose.yaml)'])('render reads -f %s', words => {
    const cwd = makeFolder({
      'compose.yaml': 'name: shop\nservices: {web: {image: nginx, env_file: a.env}}\n',
      'a.env': 'A=b\n',
    })
    const command = `"${process.execPath}" "${main}" render -f ${words}`
    const { status, stdout, stderr } = spawnSync('bash', ['-c', command], { cwd, encoding: 'utf8' })
    expect({ status, stdout }, stderr).toEqual({ status: 0, stdout: expect.stringContaining('value: b') })
  })

  test('render limits the size of standard input as it does for files', () => {
    const options = { input: `${many}# ${'x'.repeat(1 << 20)}`, encoding: 'utf8' } as const
    const limited = { ...options, env: { ...process.env, DEVCTL_LIMITS: 'bytes=1m' } }
    const { status, stderr } = spawnSync(process.execPath, [main, 'render', '-f', '-'], limited)
    expect(status).toBe(1)
    expect(stderr).toMatch(/^error: standard input has more than 1,048,576 bytes\n\s+= help: .*`DEVCTL_LIMITS=bytes=/)
  })
})
