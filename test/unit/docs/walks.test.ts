import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { root } from '../../support/cases.ts'

/** Maximum number of hops of each walk in ARCHITECTURE.md. A longer way through the code needs a reason. */
const LIMITS: Readonly<Record<string, number>> = { render: 9, deploy: 11, publish: 10, save: 10, click: 9 }

/** A line of a walk: a file to open, and the function in it that calls the function of the next line. */
interface Stop {
  readonly file: string
  /** Name of a function, or of a class and its method: `Scanner.hint`, `Watchers.#heard`. */
  readonly name: string
  /** Name of the earlier stop that calls this one; undefined if the previous line does. */
  readonly calledBy?: string
  /** Names in the file of the caller, and paths of files that make the call, if the caller does not make it itself. */
  readonly through: readonly string[]
}

interface Walk {
  readonly name: string
  /** Number of hops according to the sentence above the block. */
  readonly stated: number
  readonly stops: readonly Stop[]
}

/** Parses the walks of a document: the blocks ```` ```walk NAME ````, below a line that begins `**NAME** (N hops)`. */
function walksIn(document: string): readonly Walk[] {
  return [...document.matchAll(/^```walk (\w+)\n([\s\S]*?)\n```$/gm)].map(([, name = '', lines = '']) => ({
    name,
    stated: Number(new RegExp(`^\\*\\*${name}\\*\\* \\((\\d+) hops\\)`, 'm').exec(document)?.[1]),
    stops: lines.split('\n').map(toStop),
  }))
}

function toStop(line: string): Stop {
  const [, file = '', name = '', remark = ''] = /^(\S+) +(\S+)(.*)$/.exec(line) ?? []
  const [, calledBy] = /\(called by ([^)]+)\)/.exec(remark) ?? []
  const through = /\(through ([^)]+)\)/.exec(remark)?.[1]?.split(', ') ?? []
  return { file, name, ...(calledBy !== undefined && { calledBy }), through }
}

/** Reads a source without its comments; undefined if the file does not exist. */
function codeOf(path: string): string | undefined {
  if (!existsSync(join(root, path))) return undefined
  return readFileSync(join(root, path), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*/g, '')
}

const methodOf = (name: string): string => name.slice(name.indexOf('.') + 1)
const isPath = (text: string): boolean => /\/.*\.tsx?$/.test(text)

/** True if the code declares a function, a constant with a function, or a class with the method. */
function declares(code: string, name: string): boolean {
  if (!name.includes('.')) return new RegExp(`\\bfunction\\*? ${name}\\b|\\bconst ${name}\\b[^\\n]*=`).test(code)
  const [kind, method] = name.split('.')
  const body = new RegExp(`^(?:export )?class ${kind}\\b[\\s\\S]*?^}$`, 'm').exec(code)?.[0] ?? ''
  return new RegExp(`^ {2}(?:async )?\\*?${method}(?:<[^\\n]*>)?\\(`, 'm').test(body)
}

/** True if the code calls a function or a method of that name. */
const calls = (code: string, name: string): boolean =>
  new RegExp(`(?<![#\\w]|function )${methodOf(name)}(?:<[^\\n()]*>)?\\(`).test(code)

const mentions = (code: string, text: string): boolean =>
  new RegExp(`(?<!\\w)${text.replaceAll('.', '\\.')}(?!\\w)`).test(code)

/** Returns the errors of a walk: missing files and functions, and calls that are not in the code. */
function errorsIn({ stops }: Walk): readonly string[] {
  return stops.flatMap((stop, index) => {
    const { file, name, calledBy, through } = stop
    const own = codeOf(file)
    if (own === undefined) return [`${file} does not exist`]
    const errors = declares(own, name) ? [] : [`${file} does not declare ${name}`]
    if (index === 0) return errors
    const earlier = stops.slice(0, index)
    const caller = calledBy === undefined ? earlier.at(-1) : earlier.findLast(one => one.name === calledBy)
    if (!caller) return [...errors, `${calledBy} is not above ${name}`]
    const code = codeOf(caller.file) ?? ''
    if (through.length === 0) return calls(code, name) ? errors : [...errors, `${caller.file} does not call ${name}`]
    for (const text of through)
      if (isPath(text) ? !calls(codeOf(text) ?? '', name) : !mentions(code, text))
        errors.push(isPath(text) ? `${text} does not call ${name}` : `${caller.file} does not mention ${text}`)
    return errors
  })
}

const walks = walksIn(readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8'))

test('ARCHITECTURE.md has the five walks and at most 200 lines', () => {
  expect(walks.map(({ name }) => name)).toEqual(Object.keys(LIMITS))
  expect(readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8').split('\n').length).toBeLessThanOrEqual(201)
})

describe.each(walks)('the walk $name', walk => {
  test('every function exists and calls the next', () => {
    expect(errorsIn(walk)).toEqual([])
  })

  test('the number of hops is stated, and within its limit', () => {
    expect(walk.stops.length - 1).toBe(walk.stated)
    expect(walk.stated).toBeLessThanOrEqual(LIMITS[walk.name]!)
  })
})

describe('a wrong walk', () => {
  const errorsOf = (...lines: readonly string[]) =>
    walksIn(['```walk wrong', ...lines, '```'].join('\n')).flatMap(errorsIn)

  test('a missing file or function is reported', () => {
    expect(errorsOf('cli/nothing.ts  main')).toEqual(['cli/nothing.ts does not exist'])
    expect(errorsOf('cli/main.ts  runProgram')).toEqual(['cli/main.ts does not declare runProgram'])
    expect(errorsOf('sync/scan/scanner.ts  Scanner.nothing')).toHaveLength(1)
    expect(errorsOf('sync/scan/scanner.ts  Watchers.add')).toHaveLength(1)
  })

  test('a function that does not call the next is reported', () => {
    const main = 'cli/main.ts  main  the first'
    const render = 'operations/render/render.ts  render  the operation'
    expect(errorsOf(main, render)).toEqual(['cli/main.ts does not call render'])
    expect(errorsOf(main, `${render} (called by start)`)).toEqual(['start is not above render'])
    expect(errorsOf(main, `${render} (called by main)`)).toEqual(['cli/main.ts does not call render'])
    expect(errorsOf(main, `${render} (through tables)`)).toEqual(['cli/main.ts does not mention tables'])
    expect(errorsOf(main, `${render} (through commands, cli/program.ts)`)).toEqual([
      'cli/program.ts does not call render',
    ])
    expect(errorsOf(main, `${render} (through commands, cli/run/render.ts)`)).toEqual([])
  })
})
