import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { main } from '../../../../cli/main.ts'
import { root } from '../../../support/cases.ts'
import { run } from '../../../support/run.ts'
import { TAKES_ALL } from '../../../support/takes-all.ts'

const golden = join(root, 'golden/init')
const projects = readdirSync(golden)
let work: string
beforeAll(() => {
  work = mkdtempSync(join(tmpdir(), 'devctl-init-'))
})
afterAll(() => rmSync(work, { recursive: true, force: true }))

/** A copy of a project that is in no repository, so that it is named after its folder. */
function copyOf(project: string, as = project): string {
  const folder = join(work, as)
  cpSync(join(golden, project), folder, { recursive: true, filter: path => !path.endsWith('/expected') })
  return folder
}

const written = (folder: string, name: string): string | undefined =>
  existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : undefined

describe.each(projects)('%s', project => {
  test('gets the manifest that is expected, which validate accepts', async () => {
    const folder = copyOf(project)
    const { status, stdout, stderr } = await run(['init', '--yes'], { cwd: folder })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    const expected = join(golden, project, 'expected')
    await expect(stdout).toMatchFileSnapshot(join(expected, 'output.txt'))
    const manifest = written(folder, 'devctl.yml')
    const ignores = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(path =>
      path.endsWith('.stignore'),
    )
    if (manifest === undefined) return expect(stdout).toContain('no manifest is needed')
    await expect(manifest).toMatchFileSnapshot(join(expected, 'devctl.yml'))
    for (const path of ignores)
      await expect(written(folder, path)).toMatchFileSnapshot(join(expected, path.replace('.stignore', 'stignore')))
    const checked = await run(['validate'], { cwd: folder })
    expect(checked).toMatchObject({ status: 0, stderr: expect.stringMatching(/^(?!error)/) })
  })
})

/** Runs the command on a terminal whose user gives these answers. */
async function answer(folder: string, args: readonly string[], answers: readonly (string | undefined)[]) {
  const asked: { question: string; choices: readonly string[] }[] = []
  const shown = { stdout: '', stderr: '' }
  const output = (name: 'stdout' | 'stderr') => ({
    isTTY: true,
    write: (text: string) => {
      shown[name] += text
    },
  })
  const left = [...answers]
  const status = await main(['init', ...args], {
    stdout: output('stdout'),
    stderr: output('stderr'),
    readStdin: async () => new Uint8Array(),
    env: { NO_COLOR: '1' },
    cwd: folder,
    choose: async (question, choices) => {
      asked.push({ question, choices: choices.map(({ value }) => value) })
      return left.shift()
    },
  })
  return { status, asked, ...shown }
}

describe('on a terminal', () => {
  test('it asks for the command and whether to write', async () => {
    const folder = copyOf('node-express', 'asked')
    const { status, asked, stdout } = await answer(folder, [], ['npm install && npm run start', 'manifest'])
    expect(status).toBe(0)
    expect(asked.map(({ question }) => question)).toEqual([
      'Which command runs asked during development?',
      'Write devctl.yml?',
    ])
    expect(written(folder, 'devctl.yml')).toContain('command: npm install && npm run start\n')
    expect(written(folder, '.stignore')).toBeUndefined()
    expect(stdout).toContain('next: devctl up asked')
  })

  test('some of the applications', async () => {
    const folder = copyOf('several-applications', 'some')
    await answer(folder, [], ['services/web', 'all'])
    expect(written(folder, 'devctl.yml')).toMatch(/^dev:\n {2}web:\n/m)
    expect(written(folder, 'devctl.yml')).not.toContain('api')
    expect(written(folder, 'services/web/.stignore')).toContain('node_modules')
  })

  test.each([[['nothing']], [[undefined]]])('nothing is written after the answer %j', async answers => {
    const folder = copyOf('rust', `left-${answers[0]}`)
    const { status, stderr } = await answer(folder, [], answers)
    expect({ status, files: readdirSync(folder).includes('devctl.yml') }).toEqual({ status: 130, files: false })
    expect(stderr).toContain('nothing was written')
  })

  test('-v1 asks for the language only, and looks at nothing else', async () => {
    const folder = copyOf('manifests', 'plain')
    const { asked } = await answer(folder, ['-v1'], ['node', 'all'])
    expect(asked.map(({ question }) => question)).toEqual(['Which language?', 'Write devctl.yml?'])
    expect(written(folder, 'devctl.yml')).not.toMatch(/^(?:deploy|build):/m)
    expect((await answer(copyOf('rust', 'other'), ['-v1'], ['go'])).stderr).toContain('has no project for `go`')
  })
})

describe('a manifest that is there', () => {
  const old = 'dev:\n  old: {sync: [".:/old"]}\n'
  const withOld = (name: string) => {
    const folder = copyOf('rust', name)
    writeFileSync(join(folder, 'devctl.yml'), old)
    return folder
  }

  test.each([[[]], [['--replace', 'false']], [['--replace=false']]])('is kept with %j', async args => {
    const folder = withOld(`kept-${args.length}${args[0]?.length}`)
    const { status, stderr } = await run(['init', '--yes', ...args], { cwd: folder })
    expect(status).toBe(1)
    expect(stderr).toBe(
      'error: `devctl.yml` already exists\n  = help: to replace it, add `--replace`; a copy is kept\n',
    )
    expect(written(folder, 'devctl.yml')).toBe(old)
  })

  test.each([[['--replace']], [['--replace', 'true']], [['--replace=true']]])('is replaced with %j', async args => {
    const folder = withOld(`replaced-${args.join('')}`)
    const { status, stdout, stderr } = await run(['init', '--yes', ...args], { cwd: folder })
    expect({ status, copy: written(folder, 'devctl.yml.bak') }).toEqual({ status: 0, copy: old })
    expect(stderr).toContain('-  old: {sync: [".:/old"]}')
    expect(stdout).toContain('kept: devctl.yml.bak\n')
    const again = await run(['init', '--yes', ...args], { cwd: folder })
    expect(again.stdout).toContain('unchanged: devctl.yml\n')
    expect(written(folder, 'devctl.yml.bak2')).toBeUndefined()
  })

  test('an ignore file that is there stays', async () => {
    const folder = withOld('own-ignores')
    writeFileSync(join(folder, '.stignore'), 'mine\n')
    await run(['init', '--yes', '--replace'], { cwd: folder })
    expect(written(folder, '.stignore')).toBe('mine\n')
  })
})

test('what was found, for programs', async () => {
  const { stdout, status } = await run(['init', '--analyze', '--output', 'json'], {
    cwd: copyOf('manifests', 'analyzed'),
  })
  expect(status).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({
    name: 'analyzed',
    deployed: { by: 'manifests', path: 'k8s', workloads: [{ kind: 'Deployment', name: 'greeter', port: 3000 }] },
    applications: [
      {
        name: 'greeter',
        isDeployed: true,
        application: { language: 'node', port: { value: 3000, from: 'server.js' } },
      },
    ],
  })
  expect(written(join(work, 'analyzed'), 'devctl.yml')).toBeUndefined()
})

test('namespace, context and another file', async () => {
  const folder = copyOf('rust', 'named')
  const args = ['--namespace', 'shop', '--context', 'kind-dev', '--file', '.devctl/devctl.yml']
  await run(['init', '--yes', ...args], { cwd: folder })
  expect(written(folder, '.devctl/devctl.yml')).toMatch(/^namespace: shop\ncontext: kind-dev\n/m)
  expect(written(folder, '.stignore')).toContain('target')
})

test.each([
  [['init'], 'asks questions, and there is no terminal'],
  [['init', '--yes', '--replace', 'maybe'], '`--replace` is `maybe`'],
  [['init', '--yes', '--output', 'json'], '`--output json` is for `--analyze`'],
])('%j is refused', async (args, message) => {
  const { status, stderr } = await run(args, { cwd: copyOf('rust', 'refused') })
  expect({ status, message: stderr }).toEqual({ status: 2, message: expect.stringContaining(message) })
})

test('a Compose file with errors', async () => {
  mkdirSync(join(work, 'broken'))
  writeFileSync(join(work, 'broken', 'compose.yaml'), 'services: [')
  const { status, stderr } = await run(['init', '--yes'], { cwd: join(work, 'broken') })
  expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('compose.yaml has errors') })
})

test('an empty folder', async () => {
  mkdirSync(join(work, 'empty'))
  const { status, stderr } = await run(['init', '--yes'], { cwd: join(work, 'empty') })
  expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('no application was recognised') })
})

test('whatever the files of a project hold, the manifest is one that is accepted', async () => {
  const marker = fc.constantFrom(
    'package.json',
    'requirements.txt',
    'go.mod',
    'pom.xml',
    'Gemfile',
    'composer.json',
    'Cargo.toml',
  )
  const content = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.json(),
    fc
      .record({ scripts: fc.dictionary(fc.string(), fc.string()), engines: fc.record({ node: fc.string() }) })
      .map(one => JSON.stringify(one)),
  )
  const dockerfile = fc.string().map(text => `FROM x\nWORKDIR /${text}\nEXPOSE ${text}\n`)
  let number = 0
  await fc.assert(
    fc.asyncProperty(marker, content, dockerfile, async (name, text, image) => {
      const folder = join(work, `generated-${number++}`)
      mkdirSync(folder)
      writeFileSync(join(folder, name), text)
      writeFileSync(join(folder, 'Dockerfile'), image)
      const { status, stderr } = await run(['init', '--yes'], { cwd: folder })
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    }),
    { numRuns: TAKES_ALL ? 1000 : 25 },
  )
})
