import { expect, test } from 'vitest'
import { removeFromYaml } from '../../../../adapters/files/yaml-remove.ts'

const TEXT = `# a shop

icon: shop.png   # for the page

# images


build:

  api:
    context:   .      # here
    image: okteto.dev/api

    # one stage
    target: dev

list:
  - name: a
    # the command
    command:   run
  - {name:  b, command: x,  last: 1}   # flow

# the end
`

/** Returns the text without lines that contain one of the words. */
const without = (...lines: readonly string[]): string =>
  TEXT.split('\n')
    .filter(line => !lines.some(one => line === one))
    .join('\n')

test.each([
  ['a key between comments', ['icon'], TEXT.replace('icon: shop.png   # for the page\n\n', '')],
  ['a key before a comment', ['build', 'api', 'image'], without('    image: okteto.dev/api')],
  ['a key at the end of a mapping', ['build', 'api', 'target'], without('    target: dev')],
  [
    'the key on the line of a dash',
    ['list', 0, 'name'],
    TEXT.replace('  - name: a\n    # the command\n    command', '    # the command\n  - command'),
  ],
  ['the first key on one line', ['list', 1, 'name'], TEXT.replace('name:  b, ', '')],
  ['a key on one line', ['list', 1, 'command'], TEXT.replace('command: x,  ', '')],
  ['the last key on one line', ['list', 1, 'last'], TEXT.replace(',  last: 1', '')],
  ['an item of a list', ['list', 0], TEXT.replace('  - name: a\n    # the command\n    command:   run\n', '')],
  ['a key that does not exist', ['build', 'web'], TEXT],
])('removing %s keeps all other lines, comments and spaces', async (_, path, expected) => {
  expect(await removeFromYaml(TEXT, path)).toEqual({ ok: true, text: expected })
  const crlf = (text: string) => text.replaceAll('\n', '\r\n')
  expect(await removeFromYaml(crlf(TEXT), path)).toEqual({ ok: true, text: crlf(expected) })
})

test('an entry with an anchor that is used elsewhere is not removed', async () => {
  const text = 'a: &a\n  b: 1\nc: *a\n'
  for (const path of [['a', 'b'], ['a']])
    expect(await removeFromYaml(text, path)).toEqual({
      ok: false,
      problem: `\`${path.join('.')}\` has an anchor that is used elsewhere`,
    })
})
