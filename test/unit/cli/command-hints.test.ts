import { Option } from 'commander'
import { describe, expect, test } from 'vitest'
import type { Command } from '../../../cli/command.ts'
import { BUILDX_OPTION_HINTS, COMMAND_HINTS, insteadOfOptionOf, OPTIONS } from '../../../cli/command-hints.ts'
import { commands } from '../../../cli/commands.ts'

// A hint is for a word that devctl does not know, so it fails here when devctl learns the word, or forgets what the
// hint names.

const names = commands.map(({ name }) => name)
const flagsOf = ({ options }: Command) =>
  Object.values(options).flatMap(({ flags }) => {
    const { short, long } = new Option(flags)
    return [short, long].filter(flag => flag !== undefined)
  })
const byName = new Map(commands.map(command => [command.name, command]))

test('no command of devctl is a word of other tools', () => {
  expect(Object.keys(COMMAND_HINTS).filter(word => names.includes(word))).toEqual([])
})

test.each(commands)('no option of `$name` is one of other tools', command => {
  const flags = flagsOf(command)
  const own = { ...OPTIONS[command.name], ...(command.name === 'build' && BUILDX_OPTION_HINTS) }
  expect(Object.keys(own).filter(option => flags.includes(option))).toEqual([])
  expect(flags.filter(flag => insteadOfOptionOf(command.name, flag, flags) !== undefined)).toEqual([])
})

test('the commands that have options of other tools exist', () => {
  expect(Object.keys(OPTIONS).filter(name => !names.includes(name))).toEqual([])
})

describe('hints', () => {
  const hints = [
    ...Object.entries(COMMAND_HINTS).map(([word, hint]) => ({ word, hint })),
    ...Object.entries(OPTIONS).flatMap(([command, options]) =>
      Object.entries(options).map(([option, hint]) => ({ word: `${command} ${option}`, command, hint })),
    ),
    ...Object.entries(BUILDX_OPTION_HINTS).map(([option, hint]) => ({
      word: `build ${option}`,
      command: 'build',
      hint,
    })),
  ]
  test.each<{ word: string; hint: string; command?: string }>(hints)(
    'the hint for $word names commands and options that exist',
    ({ hint, command }) => {
      for (const [, code] of hint.matchAll(/`([^`]+)`/g)) {
        const [first = '', ...rest] = code!.split(' ')
        // A bare option is one of the command that was typed; text after `--` is for another program.
        if (first.startsWith('-') && command !== undefined) expectOptions(command, code!)
        if (first !== 'devctl') continue
        const name = [rest.slice(0, 2).join(' '), rest[0] ?? ''].find(one => byName.has(one))
        expect(name, `\`${code}\` is a command`).toBeDefined()
        expectOptions(name!, code!.split(' -- ')[0]!)
      }
    },
  )

  const expectOptions = (name: string, code: string) => {
    const flags = flagsOf(byName.get(name)!)
    const used = code.split(/[ =]/).filter(word => /^--?[a-z]/.test(word) && word !== '--log-level')
    expect(
      used.filter(word => !flags.includes(word)),
      `options of \`${name}\` in \`${code}\``,
    ).toEqual([])
  }
})
