import { describe, expect, test, vi } from 'vitest'
import { parsePattern } from '../../../../cli/run/logs.ts'

import { LogPrinter, type LogPrinterOptions } from '../../../../cli/terminal/log-printer.ts'
import { cleanText } from '../../../../cli/terminal/log-text.ts'
import { root } from '../../../support/cases.ts'
import { run } from '../../../support/run.ts'

const source = (service: string, name = `${service}-0`) => ({
  service,
  name,
  pod: name,
  namespace: 'shop',
  container: service,
})
const line = (text: string) => ({ time: { seconds: 1_800_000_000, nanos: 5 }, text })
const turn = () => new Promise(resolve => setImmediate(resolve))

function printer(options: Partial<LogPrinterOptions> = {}, flushed?: () => Promise<void>) {
  const written: string[] = []
  const stop = new AbortController()
  const closed = vi.fn()
  const output = { isTTY: false, write: (text: string) => void written.push(text), ...(flushed && { flushed }) }
  const made = new LogPrinter(output, { colour: false, timestamps: false, signal: stop.signal, closed, ...options })
  return { printer: made, written, stop, closed }
}

describe('lines', () => {
  test('lines follow names of one width, which grows', async () => {
    const { printer: made, written } = printer()
    made.expect([source('api'), source('cache')])
    made.print(source('api'), line('one'))
    made.print(source('cache'), line('two'))
    await made.end()
    made.expect([source('api', 'api-0/fill-data')])
    made.print(source('api'), line('three'))
    await made.end()
    expect(written).toEqual(['api-0   | one\ncache-0 | two\n', 'api-0           | three\n'])
  })

  test('lines have their time with `timestamps`', async () => {
    const { printer: made, written } = printer({ timestamps: true })
    made.print(source('api'), line('one'))
    await made.end()
    expect(written).toEqual([' 2027-01-15T08:00:00.000000005Z one\n'].map(text => `api-0 |${text}`))
  })

  test('lines have one color for all Pods of a service, and another for each other service', async () => {
    const { printer: made, written } = printer({ colour: true })
    const sources = [source('web'), source('api', 'api-1'), source('api', 'api-2')]
    made.expect(sources)
    for (const one of sources) made.print(one, line('x'))
    await made.end()
    expect(written.join('')).toBe(
      '\u001b[33mweb-0 |\u001b[0m x\n\u001b[36mapi-1 |\u001b[0m x\n\u001b[36mapi-2 |\u001b[0m x\n',
    )
  })

  test('lines are held back while the output is not flushed, up to a limit', async () => {
    let release = () => {}
    const { printer: made, written } = printer({}, () => new Promise(resolve => (release = resolve)))
    const text = 'x'.repeat(1000)
    expect(made.print(source('api'), line(text))).toBeUndefined()
    await turn()
    expect(written).toHaveLength(1)
    let waits: Promise<void> | undefined
    let taken = 0
    for (; !waits && taken < 1000; taken++) waits = made.print(source('api'), line(text))
    expect(taken).toBeLessThan(100)
    let isLetGo = false
    waits!.then(() => {
      isLetGo = true
    })
    await turn()
    expect({ isLetGo, writes: written.length }).toEqual({ isLetGo: false, writes: 1 })
    release()
    await turn()
    expect({ isLetGo, writes: written.length }).toEqual({ isLetGo: true, writes: 2 })
  })

  test('lines that wait do not delay the end of the command', async () => {
    const { printer: made, stop } = printer({}, () => new Promise(() => {}))
    await turn()
    let waits: Promise<void> | undefined
    while (!waits) waits = made.print(source('api'), line('x'.repeat(10_000)))
    stop.abort()
    await waits
    await made.end()
  })

  test('the printer reports an output that is closed', async () => {
    const gone = Object.assign(new Error('EPIPE'), { code: 'EPIPE' })
    const { printer: made, closed } = printer({}, () => Promise.reject(gone))
    made.print(source('api'), line('x'))
    await made.end()
    expect(closed).toHaveBeenCalledWith(gone)
  })
})

describe('cleanText', () => {
  test.each([
    ['plain, tab\there', 'plain, tab\there', 'plain, tab\there'],
    ['\u001b[31mred\u001b[0m', 'red', '\u001b[31mred\u001b[0m\u001b[0m'],
    ['\u001b[2J\u001b[1;1Hcleared', 'cleared', 'cleared'],
    ['\u001b]0;title\u0007named', 'named', 'named'],
    ['\u001b]8;;https://x\u001b\\link\u001b]8;;\u001b\\', 'link', 'link'],
    ['\u001bP1;2|data\u001b\\after', 'after', 'after'],
    ['\u001bcreset', 'reset', 'reset'],
    ['10%\r20%', '10% 20%', '10% 20%'],
    ['bell\u0007back\b', 'bellback', 'bellback'],
    ['\u009b31mred', 'red', 'red'],
    ['cut \u001b[', 'cut ', 'cut '],
    ['a\u200eb\u200fc\u061cd\u2028e\ufefff\u200b', 'abcdef', 'abcdef'],
    ['tab\tstop', 'tab\tstop', 'tab\tstop'],
    ['Grüße 👋 \u001b[1mfett', 'Grüße 👋 fett', 'Grüße 👋 \u001b[1mfett\u001b[0m'],
  ])('cleanText removes what a terminal would obey from %j', (text, plain, coloured) => {
    expect(cleanText(text, false)).toBe(plain)
    expect(cleanText(text, true)).toBe(coloured)
  })
})

describe('patterns of names', () => {
  test.each([
    ['api', ['api', 'api-worker', 'web-api']],
    ['^api', ['api', 'api-worker']],
    ['^api$', ['api']],
    ['(?i)API', ['api', 'api-worker', 'web-api']],
    ['worker|db', ['api-worker', 'db']],
    ['a.i', ['api', 'api-worker', 'web-api']],
    ['API', []],
  ])('the pattern %s matches the right names', (text, expected) => {
    const pattern = parsePattern(text, 'x')
    expect(['api', 'api-worker', 'web-api', 'db'].filter(name => pattern.test(name))).toEqual(expected)
  })

  test.each([
    [
      ['logs', '['],
      'the name of the service is `[`, which is not a valid regular expression: unterminated character class',
    ],
    [['logs', 'a('], 'the name of the service is `a(`, which is not a valid regular expression: unterminated group'],
    [['logs', '--exclude', '*'], '`--exclude` is `*`, which is not a valid regular expression: nothing to repeat'],
    [['logs', '--since', '5'], '`--since` is `5`, which is not a valid duration'],
    [['logs', '--tail', 'some'], '`--tail` is `some`'],
    [['logs', '--tail', '-5'], '`--tail` is `-5`'],
    [['endpoints', '--output', 'xml'], '`--output` is `xml`'],
  ])('an invalid pattern or option ends with status 2: %j', async (argv, message) => {
    const { status, stdout, stderr } = await run(argv, { cwd: root })
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toContain(`error: ${message}\n  = help: `)
  })
})
