import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import { program } from '../program.ts'

// Maliciously crafted files. The installed program answers each with an error, within five seconds of CPU time on a
// machine with other work, and in less than 500 MB.
const SECONDS = 5
const MEGABYTES = 500

const service = 'services:\n  web:\n    image: nginx\n'

export interface Hostile {
  readonly what: string
  readonly files: () => Readonly<Record<string, string>>
  /** Pieces of the code of the error; several where either is right. */
  readonly code: RegExp
  /** Tried by `npm test`; the others by `npm run test:long`. */
  readonly isShort?: boolean
  /** Big but honest: it may also be rendered, in the same time and memory. */
  readonly mayPass?: boolean
}

export const hostileInputs: readonly Hostile[] = [
  {
    what: 'a file of 20 MB',
    files: () => ({
      'compose.yaml': `${service}    environment:\n${numbered(700_000, n => `      NAME_${n}: some value ${n}\n`)}`,
    }),
    code: /./,
  },
  {
    what: 'one scalar of 20 MB',
    files: () => ({ 'compose.yaml': `${service}    command: "${'x'.repeat(20 << 20)}"\n` }),
    code: /./,
    mayPass: true,
  },
  {
    what: '100,000 nested brackets',
    isShort: true,
    files: () => ({ 'compose.yaml': `${service}    command: ${'['.repeat(100_000)}` }),
    code: /./,
  },
  {
    what: '100,000 nested and closed brackets',
    files: () => ({ 'compose.yaml': `x-a: ${'['.repeat(100_000)}${']'.repeat(100_000)}\n${service}` }),
    code: /./,
  },
  {
    what: '20,000 nested mappings',
    files: () => ({ 'compose.yaml': `x-a: ${'{a: '.repeat(20_000)}${'}'.repeat(20_000)}\n${service}` }),
    code: /./,
  },
  {
    what: '2,000 nested blocks',
    files: () => ({ 'compose.yaml': `${service}x-a:\n${numbered(2_000, n => `${' '.repeat(n + 1)}a:\n`)}` }),
    code: /./,
    mayPass: true,
  },
  {
    what: 'an alias bomb of lists',
    isShort: true,
    files: () => ({
      'compose.yaml': `${service}x-0: &a0 [x, x, x, x, x, x, x, x, x]\n${numbered(30, n => `x-${n + 1}: &a${n + 1} [${`*a${n}, `.repeat(9)}*a${n}]\n`)}`,
    }),
    code: /./,
    mayPass: true,
  },
  {
    what: 'an alias bomb that a service uses',
    isShort: true,
    files: () => ({
      'compose.yaml': `x-0: &a0 {k: v}\n${numbered(30, n => `x-${n + 1}: &a${n + 1} {${numbered(9, m => `k${m}: *a${n}, `)}z: *a${n}}\n`)}services:\n  web:\n    image: nginx\n    x-bomb: *a30\n    labels: *a30\n`,
    }),
    code: /./,
  },
  {
    what: 'a chain of merge keys',
    files: () => ({
      'compose.yaml': `x-0: &a0 {k0: v}\n${numbered(3_000, n => `x-${n + 1}: &a${n + 1} {<<: *a${n}, k${n + 1}: v}\n`)}services:\n  web:\n    image: nginx\n    labels: *a3000\n`,
    }),
    code: /./,
    mayPass: true,
  },
  {
    what: 'an alias to itself',
    isShort: true,
    files: () => ({ 'compose.yaml': `${service}x-a: &a {b: *a}\n` }),
    code: /alias|yaml/,
  },
  {
    what: 'an extends chain of 10,000',
    files: () => ({
      'compose.yaml': `services:\n  s0:\n    image: nginx\n${numbered(10_000, n => `  s${n + 1}:\n    extends: s${n}\n`)}`,
    }),
    code: /./,
    mayPass: true,
  },
  {
    what: 'an extends chain of 10,000 the other way',
    files: () => ({
      'compose.yaml': `services:\n${numbered(10_000, n => `  s${n}:\n    extends: s${n + 1}\n`)}  s10000:\n    image: nginx\n`,
    }),
    code: /./,
    mayPass: true,
  },
  {
    what: 'an extends circle of 10,000',
    files: () => ({
      'compose.yaml': `services:\n${numbered(10_000, n => `  s${n}:\n    extends: s${(n + 1) % 10_000}\n`)}`,
    }),
    code: /extends/,
  },
  {
    what: 'an extends chain through 1,000 files',
    files: () => ({
      'compose.yaml': 'services:\n  web:\n    extends: {file: f0.yaml, service: web}\n',
      ...Object.fromEntries(
        Array.from({ length: 1_000 }, (_, n) => [
          `f${n}.yaml`,
          `services:\n  web:\n    extends: {file: f${n + 1}.yaml, service: web}\n`,
        ]),
      ),
    }),
    code: /extends/,
  },
  {
    what: 'an include chain through 1,000 files',
    isShort: true,
    files: () => ({
      'compose.yaml': 'include: [f0.yaml]\n',
      ...Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`f${n}.yaml`, `include: [f${n + 1}.yaml]\n`])),
    }),
    code: /include/,
  },
  {
    what: 'includes that double at each of 20 steps',
    files: () => ({
      'compose.yaml': 'include: [f0.yaml]\n',
      ...Object.fromEntries(
        Array.from({ length: 20 }, (_, n) => [
          `f${n}.yaml`,
          n === 19 ? service : `include: [f${n + 1}.yaml, ./f${n + 1}.yaml]\n`,
        ]),
      ),
    }),
    code: /./,
    mayPass: true,
  },
  {
    what: '50,000 nested variables',
    isShort: true,
    files: () => ({ 'compose.yaml': `${service}    user: "${'${A:-'.repeat(50_000)}x${'}'.repeat(50_000)}"\n` }),
    code: /interpolation/,
  },
  {
    what: '50,000 unclosed variables',
    files: () => ({ 'compose.yaml': `${service}    user: "${'${A:-'.repeat(50_000)}"\n` }),
    code: /interpolation/,
  },
  {
    what: 'variables that grow in .env',
    isShort: true,
    files: () => ({
      'compose.yaml': `${service}    user: "\${V40}"\n`,
      '.env': `V0=0123456789\n${numbered(40, n => `V${n + 1}=\${V${n}}\${V${n}}\n`)}`,
    }),
    code: /./,
  },
  {
    what: 'a range of all ports, often',
    isShort: true,
    files: () => ({
      'compose.yaml': `${service}    expose:\n${numbered(50, n => `      - "1-65535/${n % 2 ? 'tcp' : 'udp'}"\n`)}`,
    }),
    code: /./,
    mayPass: true,
  },
  {
    what: 'labels that thousands of services take over',
    isShort: true,
    files: () => ({
      'compose.yaml': `services:\n  base: {image: nginx, labels: {${numbered(1_000, n => `l${n}: v, `)}}}\n${numbered(3_000, n => `  s${n}: {extends: base}\n`)}`,
    }),
    code: /limits/,
  },
  {
    what: '2,000 labels of 20 services',
    files: () => ({
      'compose.yaml': `x-l: &l {${numbered(2_000, n => `l${n}: v, `)}}\nservices:\n${numbered(20, n => `  s${n}: {image: nginx, labels: *l}\n`)}`,
    }),
    code: /./,
    mayPass: true,
  },
  {
    what: '20,000 documents',
    isShort: true,
    files: () => ({ 'compose.yaml': numbered(20_000, n => `services: {s${n}: {image: nginx}}\n---\n`) }),
    code: /limits/,
  },
  {
    what: '200,000 variables in one text',
    isShort: true,
    files: () => ({ 'compose.yaml': `${service}    command: "${'${A:-x} '.repeat(200_000)}"\n` }),
    code: /limits/,
    mayPass: true,
  },
  {
    what: '140,000 variables in one text that nothing sets',
    isShort: true,
    files: () => ({ 'compose.yaml': `${service}    labels: {l: "${'$A '.repeat(140_000)}"}\n` }),
    code: /./,
    mayPass: true,
  },
  {
    what: '500,000 variables that nothing sets',
    files: () => ({ 'compose.yaml': `${service}    command: "${'${A} '.repeat(500_000)}"\n` }),
    code: /limits/,
  },
  { what: '60 MB of empty lines', files: () => ({ 'compose.yaml': '\n'.repeat(60 << 20) }), code: /yaml/ },
  {
    what: 'an env file of one line of 60 MB',
    files: () => ({ 'compose.yaml': `${service}    env_file: a.env\n`, 'a.env': `A=${'x'.repeat(60 << 20)}` }),
    code: /services/,
  },
  {
    what: 'variables that grow in a Dockerfile',
    isShort: true,
    files: () => ({
      'compose.yaml': 'services: {web: {build: .}}\n',
      Dockerfile: `FROM a\nENV A0=x\n${numbered(60, n => `ENV A${n + 1}=$A${n}$A${n}\n`)}EXPOSE $A60\n`,
    }),
    code: /./,
    mayPass: true,
  },
  {
    what: 'a cycle of 2,000 dependencies',
    files: () => ({
      'compose.yaml': `services:\n${numbered(2_000, n => `  s${n}:\n    image: nginx\n    depends_on: [s${(n + 1) % 2_000}]\n`)}`,
    }),
    code: /depends|cycle/,
  },
  {
    what: '10,000 mistakes',
    files: () => ({ 'compose.yaml': `${service}${numbered(10_000, n => `    mistake${n}: 1\n`)}` }),
    code: /unknown-key/,
  },
  {
    what: 'a line of 5 MB with a mistake at its end',
    files: () => ({
      'compose.yaml': `services: {web: {image: nginx, environment: {A: "${'é'.repeat(2_500_000)}"}, imagee: x}}\n`,
    }),
    code: /unknown-key/,
  },
]

interface Measured {
  readonly status: number | null
  readonly stderr: string
  readonly seconds: number
  readonly megabytes: number | undefined
}

/**
 * Compiles an input with the installed program, and fails if it takes too long, or ends with anything but manifests or
 * errors.
 */
export async function expectAnswer({ files, code, mayPass = false }: Hostile): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'devctl-hostile-'))
  try {
    for (const [path, text] of Object.entries(files())) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
    expectRefused(await measured(folder), { code, mayPass })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function expectRefused(
  { status, stderr, seconds, megabytes }: Measured,
  { code, mayPass }: { code: RegExp; mayPass: boolean },
): void {
  const said = `${stderr.slice(0, 2000)}…`
  if (!mayPass) expect(status, said).toBe(1)
  expect([0, 1], said).toContain(status)
  expect(stderr, 'the line that counts objects or errors').toMatch(/^\d+ (objects?|errors?)/m)
  if (status === 1) {
    const found = [...stderr.matchAll(/^error\[([^\]]+)\].*\n(.*)/gm)]
    expect(found.length, said).toBeGreaterThan(0)
    expect(
      found.some(([, one]) => code.test(one!)),
      said,
    ).toBe(true)
    for (const [all, , place] of found) expect(place, all).toMatch(/--> \S+:\d+:\d+/)
  }
  expect(seconds, 'seconds').toBeLessThan(SECONDS)
  if (megabytes !== undefined) expect(megabytes, 'MB').toBeLessThan(MEGABYTES)
}

function numbered(count: number, line: (n: number) => string): string {
  return Array.from({ length: count }, (_, n) => line(n)).join('')
}

/**
 * Runs `render` in its own process. Peak memory and seconds are the kernel's numbers if GNU time is installed: CPU
 * time, because other tests run in parallel. Otherwise, half of the wall-clock time is used instead.
 */
function measured(cwd: string): Promise<Measured> {
  const command = [
    process.execPath,
    program(),
    'render',
    '--name',
    'app',
    '--namespace',
    'shop',
    '--domain',
    'dev.example.com',
  ]
  const timed = existsSync('/usr/bin/time')
    ? ['/usr/bin/time', '--quiet', '--format', '\nUSED %M %U %S', ...command]
    : command
  return new Promise((resolve, reject) => {
    const began = performance.now()
    const child = spawn(timed[0]!, timed.slice(1), {
      cwd,
      env: { PATH: process.env.PATH },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    // Other tests have the processors, too.
    const deadline = setTimeout(() => child.kill('SIGKILL'), 200_000)
    let stderr = ''
    child.stderr.setEncoding('utf8')
    child.stderr.on('data', text => {
      stderr += text
    })
    child.on('error', reject)
    child.on('close', status => {
      clearTimeout(deadline)
      const used = /\nUSED (\d+) (\S+) (\S+)\n$/.exec(stderr)
      const seconds = used ? Number(used[2]) + Number(used[3]) : (performance.now() - began) / 2000
      resolve({ status, stderr, seconds, megabytes: used ? Number(used[1]) / 1000 : undefined })
    })
  })
}
