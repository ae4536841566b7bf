import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { type Case, exampleCases, goldenCases, root } from '../cases.ts'
import { type Result, run } from '../run.ts'
import { expandLabels } from '../standard-labels.ts'
import { makeFolder } from './folder.ts'

// The output of `config` is a self-contained Compose file: rendered in any folder, it gives the same objects; printed
// again, it gives the same text.

export type Format = 'json' | 'yaml'

/** The cases whose model can be printed, each with a number of its own. */
export function printedCases(): readonly (readonly [name: string, one: Case, index: number])[] {
  return (
    [...exampleCases(), ...goldenCases().filter(({ command }) => command === 'render')]
      // `config` prints the values of extensions as Compose does, which makes text of numbers in variables.
      .filter(({ name }) => name !== 'kubernetes/variables-have-the-type-of-their-field')
      // An environment of a manifest is no Compose file.
      .filter(({ args }) => !args.includes('--environment'))
      .map((one, index) => [one.name, one, index] as const)
  )
}

/** Prints the model of a case, and fails where what is printed is another one. */
export async function expectRoundTrip(one: Case, formats: readonly Format[]): Promise<void> {
  const direct = expectedText(one) ?? (await run(['render', ...one.args], optionsOf(one))).stdout
  // Golden cases of errors have no model to print.
  if (direct === '') return
  for (const format of formats) {
    const config = await printConfig(one, format)
    expect(config.status, config.stderr).toBe(0)
    const folder = makeFolder({ 'compose.yaml': config.stdout })
    // Paths are absolute, but .env is that of the project; the services that a profile enabled say so still.
    // So do inactive ones that only images are built on: a case that has those has no others.
    const profiles = config.stdout.includes('service:base') ? [] : ['--profile', '*']
    const same = ['-f', join(folder, 'compose.yaml'), '--project-directory', one.directory, ...profiles]
    const options = { cwd: folder, env: one.env }
    const again = await run(['render', ...same, ...planningOf(one.args, one.directory)], options)
    expect(again.status, again.stderr).toBe(0)
    expect(objects(again.stdout)).toEqual(objects(direct))
    const printed = await run(['config', '--format', format, ...same], options)
    expect(printed.stdout).toBe(config.stdout)
  }
}

function printConfig(one: Case, format: string): Promise<Result> {
  const args = ['config', '--format', format, ...loadingOf(one.args)]
  return run(args, optionsOf(one))
}

const optionsOf = ({ directory, env, stdin }: Case) => ({ cwd: directory, env, stdin })

/** Returns what a golden case renders in its own folder; undefined for all other cases. */
function expectedText({ directory, checkout }: Case): string | undefined {
  if (checkout !== undefined || !directory.startsWith(join(root, 'golden'))) return undefined
  const expected = join(directory, 'expected')
  if (!existsSync(expected)) return ''
  const texts = readdirSync(expected).map(file => readFileSync(join(expected, file), 'utf8'))
  return texts.map(expandLabels).join('---\n')
}

const LOADING = new Set(['-f', '--file', '--project-directory', '--env-file', '--profile'])
const FLAGS = new Set(['--include-secrets', '--strict'])

/** The words of a command line, each with its value. */
function* uses(args: readonly string[]): Generator<readonly string[]> {
  for (let at = 0; at < args.length; at++) {
    const word = args[at]!
    if (!word.startsWith('-') || FLAGS.has(word)) yield [word]
    else yield [word, args[++at]!]
  }
}

const loadingOf = (args: readonly string[]) =>
  [...uses(args)].filter(([word]) => LOADING.has(word!) || !word!.startsWith('-')).flat()

/** The options for the plan. The services that were named are the only ones that the printed model has. */
const planningOf = (args: readonly string[], directory: string) =>
  [...uses(args)]
    .filter(([word]) => !LOADING.has(word!) && word!.startsWith('-'))
    .flatMap(([word, value]) =>
      word === '--images-file' ? [word, join(directory, value!)] : [word!, ...(value ? [value] : [])],
    )

/** The documents in any order, without the lines that name their sources. */
const objects = (text: string): readonly string[] =>
  text
    .replace(/^# .*\n/gm, '')
    .split(/^---\n/m)
    .sort()
