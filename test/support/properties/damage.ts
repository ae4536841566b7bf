import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import fc from 'fast-check'
import { expect } from 'vitest'
import { type Case, exampleCases, goldenCases } from '../cases.ts'
import { documentsOf } from '../documents.ts'
import { measureProcessor } from '../processor-time.ts'
import { copyCase, type Result, run } from '../run.ts'

// Every example and golden input, damaged: cut off, with parts removed, doubled, swapped or overwritten. Whatever comes
// out, devctl answers: with manifests that can be read, or with errors that have a place.

const SLOW = 5000

/** The cases whose file is damaged, each with a number of its own. */
export function damagedCases(): readonly (readonly [name: string, one: Case, index: number])[] {
  return [...exampleCases(), ...goldenCases()].filter(readsItsFile).map((one, index) => [one.name, one, index])
}

/** Damages the file of a case in some ways, and fails where one is not answered as it should be. */
export async function expectAnswers(one: Case, { runs, seed }: { runs: number; seed: number }): Promise<void> {
  const work = mkdtempSync(join(tmpdir(), 'devctl-damaged-'))
  try {
    // The name of the folder may be that of the project.
    const folder = join(work, basename(one.directory))
    copyCase({ ...one, checkout: false }, folder)
    const text = readFileSync(join(one.directory, 'compose.yaml'), 'utf8')
    await fc.assert(
      fc.asyncProperty(damage(text), async damaged => {
        writeFileSync(join(folder, 'compose.yaml'), damaged)
        const used = measureProcessor()
        const result = await run([one.command, ...one.args], { cwd: folder, env: one.env, stdin: one.stdin })
        expect(used(), 'milliseconds').toBeLessThan(SLOW)
        expectAnswer(one, result)
      }),
      { numRuns: runs, seed },
    )
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** Mistakes that are not in a file have no place in one: of the environment and of the command line. */
const aboutTheCommandLine = [
  'project/a-bad-compose-disable-env-file-is-refused',
  'project/a-bad-project-name-is-refused',
  'project/an-unknown-service-on-the-command-line-is-refused',
  'project/render-of-one-service-includes-its-dependencies',
]

/** Cases in which compose.yaml is what is read, and is a text. */
function readsItsFile({ name, directory, args, env, stdin }: Case): boolean {
  if (aboutTheCommandLine.includes(name)) return false
  // The option names a service, which a damaged file may not have.
  if (args.some(word => word.startsWith('--image'))) return false
  if (args.includes('-f') || env.COMPOSE_FILE !== undefined || stdin !== '') return false
  const file = join(directory, 'compose.yaml')
  return existsSync(file) && !readFileSync(file).includes(0)
}

function expectAnswer(one: Case, { status, stdout, stderr }: Result): void {
  expect([0, 1], stderr).toContain(status)
  // A stack trace, as a crash prints it.
  expect(stderr).not.toMatch(/^\s+at .+:\d+:\d+\)?$/m)
  const errors = stderr.match(/^error\[.+\].*(\n.*)?/gm) ?? []
  if (status === 0) {
    expect(errors).toEqual([])
    if (one.command === 'render') documentsOf(stdout)
    return
  }
  expect(errors.length, stderr).toBeGreaterThan(0)
  if (one.command === 'render') expect(stdout).toBe('')
  for (const error of errors) expect(error, 'an error without a place').toMatch(/\n\s*--> \S+:\d+:\d+$/)
}

/** Texts that a slip of the hand, a broken disk or a clever enemy makes of a text. */
function damage(text: string): fc.Arbitrary<string> {
  const at = fc.nat(text.length)
  const lines = text.split('\n')
  const line = fc.nat(lines.length - 1)
  return fc.oneof(
    at.map(end => text.slice(0, end)),
    at.map(start => text.slice(start)),
    fc.tuple(at, fc.nat(20)).map(([start, length]) => text.slice(0, start) + text.slice(start + length)),
    fc
      .tuple(at, fc.constantFrom(...splinters))
      .map(([start, splinter]) => text.slice(0, start) + splinter + text.slice(start)),
    fc
      .tuple(at, fc.constantFrom(...splinters))
      .map(([start, splinter]) => text.slice(0, start) + splinter + text.slice(start + splinter.length)),
    fc
      .tuple(at, fc.string({ unit: 'binary', maxLength: 8 }))
      .map(([start, junk]) => text.slice(0, start) + junk + text.slice(start)),
    line.map(index => lines.filter((_, other) => other !== index).join('\n')),
    line.map(index => lines.flatMap((one, other) => (other === index ? [one, one] : [one])).join('\n')),
    fc.tuple(line, line).map(([from, to]) => moved(lines, from, to).join('\n')),
    fc
      .tuple(line, fc.constantFrom(1, 2, -1, -2))
      .map(([index, by]) => lines.map((one, other) => (other === index ? indented(one, by) : one)).join('\n')),
    fc
      .tuple(line, fc.constantFrom(...values))
      .map(([index, value]) =>
        lines.map((one, other) => (other === index ? one.replace(/:( .*)?$/, `: ${value}`) : one)).join('\n'),
      ),
  )
}

function moved(lines: readonly string[], from: number, to: number): readonly string[] {
  const others = lines.filter((_, index) => index !== from)
  return [...others.slice(0, to), lines[from]!, ...others.slice(to)]
}

const indented = (line: string, by: number) => (by > 0 ? ' '.repeat(by) + line : line.slice(-by))

const splinters = [
  ...[
    ':',
    ': ',
    '- ',
    '#',
    '"',
    "'",
    '[',
    ']',
    '{',
    '}',
    ',',
    '&a ',
    '*a',
    '!reset ',
    '!override ',
    '!!binary ',
    '<<: ',
    '\t',
    '\r',
    '\n',
    '\0',
  ],
  ...[
    '---\n',
    '...\n',
    '%YAML 1.1\n',
    '|',
    '>',
    '?',
    '$',
    '${',
    '}',
    '${A:-',
    '${A:?',
    '$$',
    '\u2028',
    '\ufeff',
    '\ud800',
    '😀',
    '~',
    '=',
    '@',
    '`',
  ],
]

const values = [
  ...[
    'null',
    '[]',
    '{}',
    '0',
    '-1',
    '1e400',
    '.inf',
    '.nan',
    '99999999999999999999',
    'true',
    '""',
    '[[]]',
    '{a: {b: [c]}}',
    '2024-01-01',
    '0x',
    '~/x',
  ],
  ...[
    '${UNSET}',
    '${X:?}',
    '${',
    '*x',
    '&x y',
    '!reset null',
    'service:web',
    '../../../../etc/passwd',
    '/dev/zero',
    '/dev/null',
    '.',
    '/',
    'a\u0000b',
    '__proto__',
    'constructor',
  ],
]
