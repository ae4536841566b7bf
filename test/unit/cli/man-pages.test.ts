import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { commands } from '../../../cli/commands.ts'
import { manPages, roff } from '../../../cli/help/man-pages.ts'
import { longFlag } from '../../../cli/options/option.ts'
import { root } from '../../support/cases.ts'

const pages = manPages(commands, '1.2.3')

test('package.json lists the page of every command, so that npm installs it', () => {
  const { man } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { man: readonly string[] }
  expect([...man].sort()).toEqual([...pages.keys()].map(name => `dist/man/${name}`).sort())
})

test.each([
  ['a-b', 'a\\-b'],
  ['.so /etc/passwd', '\\&.so /etc/passwd'],
  ["'it'", '\\(aqit\\(aq'],
  ['C:\\new', 'C:\\enew'],
  ['write `a-b` or `c`', 'write \\fBa\\-b\\fR or \\fBc\\fR'],
  ['one ` only', 'one \\(ga only'],
  ['`.env` is read', '\\fB.env\\fR is read'],
  ['two\nlines', 'two lines'],
  ['… and ü', '\\[u2026] and \\[u00FC]'],
  ['~/.devctl ^ "x"', '\\(ti/.devctl \\(ha \\(dqx\\(dq'],
])('roff escapes %j', (text, escaped) => {
  expect(roff(text)).toBe(escaped)
})

describe.each([...pages])('%s', (name, text) => {
  test('has only known requests and escapes, in ASCII', () => {
    expect(text).toMatch(/^[\x20-\x7e\n]+$/)
    expect(text).not.toMatch(/\n\n/)
    for (const line of text.split('\n')) {
      if (line.startsWith('.')) expect(line).toMatch(/^\.(TH .*|S[HS] [A-Za-z\\ -]+|TP|PP|br)$/)
      const escapes = line.match(/\\(?:\(..|\[u[0-9A-F]{4,6}\]|f.|.)/g) ?? []
      for (const one of escapes) expect(one).toMatch(/^\\(f[BIR]|e|-|&|\((aq|dq|ga|ha|ti)|\[u[0-9A-F]{4,6}\])$/)
      // Every font ends on its line.
      const fonts = escapes.filter(one => one.startsWith('\\f'))
      expect(fonts.filter(one => one === '\\fR').length * 2).toBe(fonts.length)
    }
  })

  test('begins with a title and a name, and names all options of its commands', () => {
    const program = name.replace(/\.1$/, '')
    const lines = text.split('\n')
    expect(lines[0]).toMatch(/^\.TH DEVCTL\S* 1 "" "devctl 1\.2\.3" "devctl manual"$/)
    expect(lines.slice(1, 3)).toEqual(['.SH NAME', expect.stringMatching(/^devctl\S* \\- [a-z]/)])
    expect(lines[2]!.replaceAll('\\', '').startsWith(`${program} - `)).toBe(true)
    const top = program.replace('devctl-', '')
    for (const command of commands.filter(one => one.name === top || one.name.startsWith(`${top} `)))
      for (const { flags } of Object.values(command.options))
        expect(text).toContain(longFlag(flags).replaceAll('-', '\\-'))
  })
})
