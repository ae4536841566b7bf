import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commands } from '../../../cli/commands.ts'
import { root } from '../../support/cases.ts'

/** Tests that contain the names of all commands, and run none of them. */
const ABOUT_ALL = /(?:^|\/)(?:usage|document|other-words|tested)\.test\.ts$/
const sources = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
  .filter(path => path.endsWith('.ts') && !ABOUT_ALL.test(path))
  .map(path => readFileSync(join(root, 'test', path), 'utf8'))

/** Matches `'context', 'use'`, `context use …` at the start of a text, and `devctl context use`. */
const calls = (name: string) => new RegExp(`(?:['"\`]|devctl )${name.split(' ').join(`(?: |', ')`)}(?=['"\`\\s])`)

// A group only lists what is below it; its help is tried with that of all commands.
test.each(commands.filter(({ name }) => !commands.some(other => other.name.startsWith(`${name} `))))(
  'a test runs `$name`',
  ({ name }) => {
    expect(sources.some(source => calls(name).test(source))).toBe(true)
  },
)
