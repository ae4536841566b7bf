import { describe, expect, test } from 'vitest'
import { quoteForBash, quoteForPowershell, splitLine } from '../../../../cli/complete/shell-words.ts'
import { makeFolder } from '../../../support/cli/folder.ts'
import { run } from '../../../support/run.ts'

const PROJECT = {
  'devctl.yml': `environments: {staging: {}, "it's $HOME": {}, "a:b": {}, "x\\u001b[31m": {}, "c d": {}}\n`,
}

/** Returns the lines of an answer. */
async function reply(words: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { status, stdout, stderr } = await run(['__complete', ...words], { cwd: makeFolder(PROJECT), env })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  return stdout.split('\n').slice(0, -1)
}
const powershell = (line: string) => reply(['powershell'], { DEVCTL_COMPLETE_LINE: line })
const bash = (line: string, replaced: string, type = '9', columns = '80') =>
  reply(['bash', line, replaced, type, columns])

describe('splitting a line', () => {
  test.each([
    ['devctl  deploy ', ['devctl', 'deploy'], '', ''],
    ['devctl dep', ['devctl'], 'dep', ''],
    ['devctl "a b" \'c $d\' e\\ f g', ['devctl', 'a b', 'c $d', 'e f'], 'g', ''],
    ['devctl --file="my fi', ['devctl'], '--file=my fi', '"'],
    ["devctl '", ['devctl'], '', "'"],
    ['devctl "a\\"b\\x" ""', ['devctl', 'a"b\\x'], '', ''],
    ['devctl a\\', ['devctl'], 'a', ''],
    ['devctl $(rm x)', ['devctl', '$(rm'], 'x)', ''],
  ] as const)('bash reads `%s`', (line, before, current, quote) => {
    expect(splitLine(line, 'bash')).toEqual({ before, current, quote })
  })

  test.each([
    ["devctl 'it''s' \"a `\"b\" c` d e", ['devctl', "it's", 'a "b', 'c d'], 'e', ''],
    ['devctl C:\\my', ['devctl'], 'C:\\my', ''],
    ['devctl "a""b', ['devctl'], 'a"b', '"'],
  ] as const)('PowerShell reads `%s`', (line, before, current, quote) => {
    expect(splitLine(line, 'powershell')).toEqual({ before, current, quote })
  })

  test('a quoted text is read as it was', () => {
    for (const text of [
      'a b',
      `it's`,
      '$(x) `y`',
      'a"b\\c',
      '~/x',
      '!x',
      '*?[a]',
      '{a,b}',
      'a;b&c|d<e>',
      '-x',
      '#a',
      'é',
    ]) {
      expect(splitLine(`p ${quoteForBash(text, '')}`, 'bash').current).toBe(text)
      expect(splitLine(`p "${quoteForBash(text, '"')}`, 'bash').current).toBe(text)
      expect(splitLine(`p '${quoteForBash(text, "'")}'`, 'bash').current).toBe(text)
      expect(splitLine(`p ${quoteForPowershell(text)}`, 'powershell').current).toBe(text)
    }
  })
})

describe('replies', () => {
  test('bash gets what takes the place of its word, which begins after `=`, a colon or a quote', async () => {
    expect(await bash('devctl render --environment=st', 'st')).toEqual(['values', 'staging'])
    expect(await bash('devctl render --environment=st', '--environment=st')).toEqual([
      'values',
      '--environment=staging',
    ])
    expect(await bash('devctl render --environment a:', '')).toEqual(['values', 'b'])
    expect(await bash('devctl render --environment "it', 'it')).toEqual(['values', `it's \\$HOME`])
    expect(await bash('devctl render --environment it', 'it')).toEqual(['values', `it\\'s\\ \\$HOME`])
  })

  test('bash gets descriptions, cut to the width of the terminal, if it only lists the candidates', async () => {
    const listed = await bash('devctl re', 're', '63', '40')
    expect(listed).toEqual([
      'values',
      'restart  (Restart services by replaci…)',
      'render   (Compile Compose files to Ku…)',
    ])
    for (const line of listed) expect(line.length).toBeLessThan(40)
    expect(await bash('devctl rest', 'rest', '63')).toEqual(['values', 'restart'])
  })

  test('zsh gets colons with a backslash', async () => {
    const lines = await reply(['zsh', 'render', '--environment', ''])
    expect(lines).toEqual(['values', 'staging', `it's $HOME`, 'a\\:b', 'c d'])
    expect(await reply(['zsh', 'rest'])).toContain('restart:Restart services by replacing their Pods')
  })

  test('names with control characters are left out', async () => {
    for (const shell of ['zsh', 'fish', 'kubectl'])
      expect((await reply([shell, 'render', '--environment', ''])).join()).not.toContain('x\u001b')
  })

  test('PowerShell gets the text to insert, the shown text and a description', async () => {
    expect(await powershell('devctl rest')).toEqual([
      'values',
      'restart\trestart\tRestart services by replacing their Pods',
    ])
    expect(await powershell('devctl render --environment=')).toEqual([
      'values',
      '--environment=staging\tstaging\tstaging',
      `'--environment=it''s $HOME'\tit's $HOME\tit's $HOME`,
      '--environment=a:b\ta:b\ta:b',
      `'--environment=c d'\tc d\tc d`,
    ])
    expect(await powershell('devctl render -f ')).toEqual(['files'])
    expect(await powershell('devctl exec -- ')).toEqual(['values'])
    expect(await powershell('')).toContain('deploy\tdeploy\tDeploy the application to the cluster')
  })

  test('kubectl gets the directives of cobra', async () => {
    expect(await reply(['kubectl', 'rest'])).toEqual(['restart\tRestart services by replacing their Pods', ':4'])
    expect(await reply(['kubectl', 'render', '--environment=st'])).toEqual(['staging', ':4'])
    expect(await reply(['kubectl', 'render', '-f', ''])).toEqual([':0'])
    expect(await reply(['kubectl', 'render', '--project-directory', ''])).toEqual([':16'])
  })

  test('kubectl gets no values that its script for bash would expand', async () => {
    const names = [
      '$(touch pwn)',
      'x$(touch${IFS}p)',
      '`touch p`',
      'a b',
      '~root',
      'a;b',
      '{a,b}',
      '*',
      "'",
      '"',
      '\\x',
    ]
    const keys = (last: string) => Object.fromEntries([...names, last].map(name => [name, {}]))
    const manifest = { environments: keys('user@host:1/a_b.c-d+e,f=g'), dev: keys('plain') }
    const cwd = makeFolder({
      'devctl.yml': JSON.stringify(manifest),
      'compose.yaml': JSON.stringify({ services: { web: { image: 'a`touch p`\\', profiles: [...names, 'all'] } } }),
    })
    const lines = async (...words: string[]) =>
      (await run(['__complete', 'kubectl', ...words], { cwd, env: {} })).stdout.split('\n').slice(0, -1)
    expect(await lines('render', '--environment', '')).toEqual(['user@host:1/a_b.c-d+e,f=g', ':4'])
    expect(await lines('exec', '')).toEqual(['plain', ':4'])
    expect(await lines('deploy', '--profile', '')).toEqual(['all', ':4'])
    expect((await lines('deploy', '')).join()).toMatch(/^web\tatouch p; profile [^$`\\]*,:4$/)
  })

  test('an unknown shell gets nothing', async () => {
    expect(await reply(['ksh', ''])).toEqual([])
    expect(await reply([])).toEqual([])
  })
})
