import { describe, expect, test } from 'vitest'
import { hoverAt } from '../../../../editor/answers/hover.ts'
import { ask } from '../../../support/editor/ask.ts'

/** Returns the text at the cursor; empty if there is none. */
async function hover(files: Readonly<Record<string, string>>): Promise<string> {
  const { asked, offset } = await ask(files)
  const { contents } = hoverAt(asked, offset) ?? { contents: { value: '' } }
  return (contents as { readonly value: string }).value
}

const web = (lines: string) => `services:\n  web:\n    image: nginx:1\n${lines}`

describe('hoverAt', () => {
  test.each<readonly [string, RegExp]>([
    ['    po‸rts: ["80"]', /\*\*ports\*\* · mapped · .*\n\nBecomes .*Service/],
    ['    ulim‸its: {nofile: 10}', /no effect.*\n\n.*node.*\n\nInstead: /s],
    ['    ulimits: {nof‸ile: 10}', /ulimits|nofile/],
    ['    depends‸_on: [db]\n  db: {image: x}', /depends_on/],
    ['    restart: alw‸ays', /\*\*restart\*\*/],
    ['    environment:\n      A‸: b', /^$/],
    ['    x-any: ‸b', /^$/],
    ['    ‸', /^$/],
  ])('says what a key becomes at %j', async (lines, expected) => {
    expect(await hover({ 'compose.yaml': web(lines) })).toMatch(expected)
  })

  test.each<readonly [string, string]>([
    ['services:\n  web:\n    im‸age: nginx:${TAG}', 'Value: `nginx:1.27` (`TAG` from .env:1)'],
    ['services:\n  web:\n    image: ngi‸nx:${TAG}', 'Value: `nginx:1.27` (`TAG` from .env:1)'],
    ['services:\n  web:\n    image: x\n    environment:\n      A‸: ${TAG}', 'Value: `1.27` (`TAG` from .env:1)'],
    ['services:\n  web:\n    image: x\n    environment:\n      - A=$‸{TAG}', 'Value: `1.27` (`TAG` from .env:1)'],
    [
      'services:\n  web:\n    image: x\n    environment:\n      A: $‸DB_PASSWORD',
      'Value: `***` (`DB_PASSWORD` from .env:2)',
    ],
    [
      'services:\n  web:\n    image: x\n    environment:\n      A: a-$‸{DB_PASSWORD}',
      'Value: `***` (`DB_PASSWORD` from .env:2)',
    ],
    [
      'services:\n  web:\n    image: x\n    environment:\n      DB_PASSWORD: a$‸{SHORT}',
      'Value: `***` (`SHORT` from .env:3)',
    ],
    ['services:\n  web:\n    image: x\n    environment: [DB_PASSWORD=$‸SHORT]', 'Value: `***` (`SHORT` from .env:3)'],
  ])('shows the value after variables, without secrets, at %j', async (text, expected) => {
    expect(await hover({ 'compose.yaml': text, '.env': 'TAG=1.27\nDB_PASSWORD=s3cretvalue\nSHORT=test\n' })).toContain(
      expected,
    )
  })

  test('shows the value of another file that replaces a value', async () => {
    const files = {
      'compose.yaml': web('    hostname: o‸ne\n'),
      'compose.override.yaml': 'services:\n  web:\n    hostname: two\n',
    }
    expect(await hover(files)).toContain('Value: `two`\n\nSet in compose.override.yaml:3:15.')
  })

  test('shows the position of the value that a value replaces', async () => {
    const files = {
      'compose.yaml': web('    hostname: one\n'),
      'compose.override.yaml': 'services:\n  web:\n    hostname: t‸wo\n',
    }
    expect(await hover(files)).toContain('Replaces the value in compose.yaml:4:15.')
  })

  test('says what a key of a manifest means, with its default', async () => {
    expect(await hover({ 'devctl.yml': 'environments:\n  prod:\n    lay‸out: plain\n' })).toBe(
      '**layout** · devctl · `plain`, `single-file` or `kustomize`\n\nOne file per object, one file for all objects, or a base with an overlay per environment; default: `plain`.',
    )
  })
})
