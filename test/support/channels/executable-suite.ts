import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { root } from '../cases.ts'
import { write } from '../cli/folder.ts'
import { program } from '../program.ts'
import { lacksExecutable, makeExecutable, type Processor } from './executable.ts'

const IDENTITY = {
  GIT_AUTHOR_NAME: 'Ann',
  GIT_AUTHOR_EMAIL: 'ann@example.com',
  GIT_COMMITTER_NAME: 'Ann',
  GIT_COMMITTER_EMAIL: 'ann@example.com',
}

/** Counts the files that Node.js loads, and those of them that it has to compile. */
const PROBE = `
const vm = require('node:vm')
let [loaded, compiled] = [0, 0]
vm.Script = class extends vm.Script {
  constructor(text, options) {
    super(text, options)
    loaded++
    if (options.cachedData === undefined || this.cachedDataRejected) compiled++
  }
}
process.on('exit', () => console.error('loaded ' + loaded + ', compiled ' + compiled))
`

/** Tests an executable by commands that need no cluster; `emulator` is the command that runs it. */
export function executableSuite(processor: Processor, emulator: readonly string[] = []): void {
  describe.skipIf(lacksExecutable(processor))(`the executable for ${processor}`, () => {
    const folder = mkdtempSync(join(tmpdir(), 'devctl-executable-'))
    const work = join(folder, 'work')
    const home = join(folder, 'home')
    // There is no Node.js on this PATH.
    const bin = join(folder, 'bin')
    const env = { PATH: bin, HOME: home, NO_COLOR: '1', ...IDENTITY }
    let path = ''

    beforeAll(() => {
      for (const one of [work, home, bin]) mkdirSync(one)
      spawnSync('sh', ['-c', `ln -s "$(command -v git)" "$(command -v env)" '${bin}'`])
      path = makeExecutable(processor, join(folder, 'executable'))
      write(work, {
        'compose.yaml': 'name: shop\nservices: {web: {image: "nginx:${TAG:-1}"}}\n',
        'app.env': 'NODE_OPTIONS=--require ./evil.js\nTAG=1.27\n',
        'evil.js': 'console.log("loaded")\n',
      })
    })
    afterAll(() => rmSync(folder, { recursive: true, force: true }))

    const run = (command: readonly string[], words: readonly string[], cwd: string) => {
      const [file = '', ...first] = command
      const { status, stdout, stderr } = spawnSync(file, [...first, ...words], { cwd, env, encoding: 'utf8' })
      return { status, stdout, stderr }
    }
    const executable = (words: readonly string[], cwd = work) => run([...emulator, path], words, cwd)
    const packaged = (words: readonly string[], cwd = work) => run([process.execPath, '--', program()], words, cwd)

    test('the executable prints the version of the package, and is one file', () => {
      const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
      expect(executable(['--version'])).toEqual({ status: 0, stdout: `devctl ${version}\n`, stderr: '' })
      expect(readdirSync(join(folder, 'executable'))).toEqual([`devctl-linux-${processor}`])
    })

    test.each([
      '--help',
      'up --help',
      'completion bash',
      'explain services/unknown-key',
      'rendr',
      'validate --file missing.yaml',
    ])('`devctl %s` prints what the package prints', line => {
      const words = line.split(' ')
      expect(executable(words)).toEqual(packaged(words))
    })

    // Only the machine that makes an executable for itself can run its Node.js to compile the program.
    test.runIf(emulator.length === 0)('the executable has the compiled code of typical runs', () => {
      write(work, { 'probe.cjs': PROBE })
      const options = { ...env, NODE_OPTIONS: `--require ${join(work, 'probe.cjs')}` }
      const words = ['render', '--namespace', 'dev']
      const { stderr } = spawnSync(path, words, { cwd: work, env: options, encoding: 'utf8' })
      const [, loaded = '', compiled = ''] = /loaded (\d+), compiled (\d+)/.exec(stderr) ?? []
      expect(Number(loaded), stderr).toBeGreaterThan(50)
      expect(Number(compiled), stderr).toBeLessThan(Number(loaded) / 10)
    })

    test('render prints the same bytes as the package', () => {
      const words = ['render', '--domain', 'dev.example.com']
      const rendered = executable(words, join(root, 'examples/shop'))
      expect(rendered).toEqual(packaged(words, join(root, 'examples/shop')))
      expect(rendered).toMatchObject({ status: 0, stdout: expect.stringContaining('kind: StatefulSet') })
    })

    test('publish commits to a bare repository', () => {
      const repository = join(folder, 'deploy.git')
      expect(spawnSync('git', ['init', '--quiet', '--bare', repository]).status).toBe(0)
      const words = ['publish', '--repository', repository, '--path', 'shop', '--namespace', 'dev']
      const published = executable([...words, '--domain', 'example.com'])
      expect(published).toMatchObject({ status: 0, stderr: expect.stringContaining('Pushed') })
      const { stdout } = spawnSync('git', ['--git-dir', repository, 'ls-tree', '-r', '--name-only', 'HEAD'])
      expect(String(stdout)).toContain('shop/')
    })

    test('Node.js inside the executable takes no options, and reads no file of options', () => {
      const rendered = executable(['render', '--env-file', 'app.env'])
      expect(rendered).toMatchObject({ status: 0, stdout: expect.stringContaining('nginx:1.27') })
      expect(rendered.stdout).not.toContain('loaded')
      expect(executable(['render', '--env-file', 'missing.env']).stderr).toMatch(/^error.*missing\.env/)
      expect(executable(['--eval', '1']).stderr).toContain('`--eval`')
    })
  })
}
