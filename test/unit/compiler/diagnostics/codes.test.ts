import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import '../../../../compiler/index.ts'
import '../../../../compiler/manifest/automatic.ts'
import '../../../../compiler/manifest/not-published.ts'
import '../../../../compiler/manifest/read.ts'
import { catalogue } from '../../../../compiler/diagnostics/diagnostic.ts'
import { goldenCases } from '../../../support/cases.ts'
import { manifestCases } from '../../../support/manifest/cases.ts'
import { run } from '../../../support/run.ts'

const work = mkdtempSync(join(tmpdir(), 'devctl-codes-'))
afterAll(() => rmSync(work, { recursive: true, force: true }))

const service = 'services:\n  web:\n    image: nginx\n'
const MEBIBYTE = 1 << 20

/** Codes that no file of the repository can show, each with a function that makes the files which show it. */
const made: Readonly<Record<string, (folder: string) => void>> = {
  'extends/too-long': folder => {
    const chain = Array.from({ length: 600 }, (_, n) => `  s${n}: {extends: s${n + 1}}\n`).join('')
    write(folder, 'compose.yaml', `services:\n${chain}  s600: {image: nginx}\n`)
  },
  'dotenv/too-large': folder => {
    write(folder, 'compose.yaml', service)
    const doubled = Array.from({ length: 13 }, (_, n) => `A${n + 1}=$A${n}$A${n}\n`).join('')
    const repeated = Array.from({ length: 9 }, (_, n) => `B${n}=$A13\n`).join('')
    write(folder, '.env', `A0=${'x'.repeat(1024)}\n${doubled}${repeated}`)
  },
  'files/no-compose-file': folder => write(folder, 'README', 'nothing to render\n'),
  'files/outside': folder => write(folder, 'compose.yaml', `${service}    env_file: /proc/self/environ\n`),
  'files/outside-read': folder => {
    write(folder, 'compose.yaml', `${service}    env_file: ../outside.env\n`)
    write(folder, '../outside.env', 'A=b\n')
  },
  'files/too-large': folder => {
    write(folder, 'compose.yaml', `${service}    configs: [large]\nconfigs:\n  large: {file: ./large}\n`)
    write(folder, 'large', 'x'.repeat(MEBIBYTE + 1))
  },
  'files/unreadable': folder => {
    write(folder, 'compose.yaml', `${service}    env_file: loop.env\n`)
    symlinkSync('loop.env', join(folder, 'loop.env'))
  },
  'limits/exceeded': folder => {
    const ports = Array.from({ length: 3 }, (_, n) => `  s${n}: {image: nginx, ports: ["1-65535"]}\n`).join('')
    write(folder, 'compose.yaml', `services:\n${ports}`)
  },
  'include/too-deep': folder => {
    for (let n = 0; n <= 110; n++) write(folder, n === 0 ? 'compose.yaml' : `${n}.yaml`, `include: [${n + 1}.yaml]\n`)
    write(folder, '111.yaml', service)
  },
  'project/no-name': folder => write(folder, 'compose.yaml', service),
  'volumes/host-empty': folder => {
    write(folder, 'compose.yaml', `${service}    volumes: ["./empty:/data:ro"]\n`)
    mkdirSync(join(folder, 'empty'))
  },
  'volumes/host-too-large': folder => {
    write(folder, 'compose.yaml', `${service}    volumes: ["./large:/data:ro"]\n`)
    for (const name of ['a', 'b', 'c']) write(folder, `large/${name}`, 'x'.repeat(MEBIBYTE / 2))
  },
  'yaml/too-deep': folder =>
    write(folder, 'compose.yaml', `${service}x-deep: ${'['.repeat(20_000)}${']'.repeat(20_000)}\n`),
  'yaml/too-large': folder => {
    const entries = Array.from({ length: 200_000 }, (_, n) => `  n${n}: ${n}\n`).join('')
    write(folder, 'compose.yaml', `${service}x-large:\n${entries}`)
  },
}

/** Codes that no file can show, and why. */
const unseen: Readonly<Record<string, string>> = {
  'volumes/host-expected-in-image': 'needs `--image`; test/unit/compiler/plan/host-volumes.test.ts shows it',
  'volumes/host-for-up': 'is said by `deploy`; test/unit/compiler/plan/host-volumes.test.ts shows it',
  'volumes/of-image': 'needs the configuration of an image; test/unit/compiler/plan/image-facts.test.ts shows it',
  'secrets/shown-to-viewers': 'needs a platform; test/unit/compiler/plan/values-apart.test.ts shows it',
  'security/image-user': 'needs the configuration of an image; test/unit/compiler/plan/image-facts.test.ts shows it',
  'limits/invalid': 'is about a variable of the environment; test/unit/cli/limits.test.ts shows it',
  'manifest/not-published': 'is said by `publish`; test/programs/git/publish.test.ts shows it',
  'okteto/build-of-service': 'needs a manifest and a Compose file; test/unit/cli/okteto.test.ts shows it',
  'routes/bad-domain': 'the command line refuses a bad domain itself; for callers of the compiler',
  'routes/no-gateway':
    'the command line refuses `--routes gateway` without a Gateway itself; for callers of the compiler',
  'volumes/host-unreadable': 'needs a file that this process may not read, and tests may run as root, who may',
}

const shown = new Set(
  [...goldenCases(), ...manifestCases()].flatMap(({ directory }) => {
    if (!readdirSync(directory).includes('diagnostics.txt')) return []
    return codesIn(readFileSync(join(directory, 'diagnostics.txt'), 'utf8'))
  }),
)

describe('diagnostics about files that are made for the test', () => {
  for (const [code, make] of Object.entries(made)) {
    test(code, async () => {
      // `project/no-name` needs a folder whose name cannot be the name of a project.
      const folder = join(work, code === 'project/no-name' ? '___' : code.replace('/', '-'))
      mkdirSync(folder)
      make(folder)
      const { stderr } = await run(['render', '--name', 'app', '--namespace', 'shop'], { cwd: folder })
      expect(codesIn(stderr)).toContain(code)
    })
  }
})

test('every other diagnostic is shown by a golden case', () => {
  const missing = [...catalogue.keys()].filter(code => !shown.has(code) && !(code in made) && !(code in unseen))
  expect(
    missing.sort(),
    'add a golden case for each of these codes (golden/compose or golden/manifest), and run with `-u`',
  ).toEqual([])
})

test('`made` and `unseen` list only codes of diagnostics that no golden case shows', () => {
  const listed = [...Object.keys(made), ...Object.keys(unseen)]
  expect(
    listed.filter(code => shown.has(code) || !catalogue.has(code)),
    'remove these codes from `made` or `unseen` in this test: a golden case shows them, or no diagnostic has them',
  ).toEqual([])
})

test('every diagnostic has a code of two parts and an explanation', () => {
  for (const { code, explain } of catalogue.values()) {
    expect(code).toMatch(/^[a-z][a-z-]*\/[a-z][a-z0-9-]*$/)
    expect(explain.length, code).toBeGreaterThan(60)
  }
})

function codesIn(text: string): readonly string[] {
  return [...text.matchAll(/^(?:error|warning|info)\[([^\]]+)\]/gm)].map(match => match[1]!)
}

function write(folder: string, path: string, text: string): void {
  const file = join(folder, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}
