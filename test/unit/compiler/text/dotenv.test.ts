import { describe, expect, it } from 'vitest'
import { Reporter } from '../../../../compiler/diagnostics/reporter.ts'
import { parseDotenv, parseRawEnv } from '../../../../compiler/text/dotenv.ts'
import { SourceFile } from '../../../../compiler/text/source.ts'

const outside = (name: string) => (name === 'P' ? 'shell' : undefined)

function read(text: string, parse: typeof parseDotenv | typeof parseRawEnv = parseDotenv) {
  const reporter = new Reporter()
  const file = new SourceFile('.env', text)
  const entries = parse(file, outside, reporter)
  return {
    entries,
    values: entries.map(entry => `${entry.name}=${entry.value}`),
    spans: entries.map(entry => text.slice(entry.span.start, entry.span.end)),
    found: reporter.diagnostics().map(({ code, span }) => {
      const { line, column } = file.position(span!.start)
      return `${code} ${line}:${column} ${text.slice(span!.start, span!.end)}`
    }),
    diagnostics: reporter.diagnostics(),
  }
}

describe('values', () => {
  it.each([
    ['', []],
    ['\n\n', []],
    ['A=1', ['A=1']],
    ['\ufeffA=1', ['A=1']],
    ['  A=1', ['A=1']],
    ['A = 2', ['A=2']],
    ['A: x', ['A=x']],
    ['A:b=c', ['A=b=c']],
    ['A=b:c', ['A=b:c']],
    ['A==b', ['A==b']],
    ['A\t=1', ['A=1']],
    ['export A=1', ['A=1']],
    ['export\t A=1', ['A=1']],
    ['exportA=1', ['exportA=1']],
    ['export=1', ['export=1']],
    ['1A=x', ['1A=x']],
    ['é=1', ['é=1']],
    ['A[0]=1\na.b-c=2', ['A[0]=1', 'a.b-c=2']],
    ['M=', ['M=']],
    ['M=\nN=1', ['M=', 'N=1']],
    ['M= \n', ['M=']],
    ['A=1\nA=2', ['A=1', 'A=2']],
    ['# c\n  # d\nA=1 # e\n#f', ['A=1']],
    ['K=v#x', ['K=v#x']],
    ['K=#x', ['K=#x']],
    ['K=v #x #y', ['K=v']],
    ['K=v\t#x', ['K=v\t#x']],
    ['A=b\r\nC="d"\r\n', ['A=b', 'C=d']],
    ['A=b  \n', ['A=b']],
    ['A=\u00a0b', ['A=b']],
    ["A=it's", ["A=it's"]],
    ['A=x"y"', ['A=x"y"']],
    ["A='$P'", ['A=$P']],
    ["A='a\nb'", ['A=a\nb']],
    ["A='it\\'s'", ["A=it's"]],
    ["A='a\\nb\\\\'", ['A=a\\nb\\\\']],
    ["A='x' # c", ['A=x']],
    ['A="a\nb"', ['A=a\nb']],
    ['A= "x" ', ['A=x']],
    ['A="x"#c', ['A=x']],
    ['A="x" C=3', ['A=x', 'C=3']],
    ['A="a\\"b"', ['A=a"b']],
    ['A="\\a\\b\\f\\n\\r\\t\\v"', ['A=\x07\b\f\n\r\t\v']],
    ['A="\\\\n"', ['A=\\n']],
    ['A="\\0123\\0351"', ['A=Sé']],
    ['A="\\c\\x41\\u0041\\101\\0777"', ['A=\\c\\x41\\u0041\\101\\0777']],
    ['A="a\\\nb"', ['A=a\\\nb']],
    ['A=a\\\nB=2', ['A=a\\', 'B=2']],
    ['A="\\$P $$P"', ['A=$P $P']],
    ['A=$$P $${P}', ['A=$P ${P}']],
    ['A=`x` $(y)', ['A=`x` $(y)']],
    ['A=$P', ['A=shell']],
    ['A="${P}"', ['A=shell']],
    ['A=${U:-d} ${P:+set}', ['A=d set']],
    ['A="${U:-\\"x\\"}"', ['A="x"']],
    ['A=1\nB=${A}', ['A=1', 'B=1']],
    ['P=file\nB=${P}', ['P=file', 'B=shell']],
    ['A=1\nA=${A}2\nB=$A', ['A=1', 'A=12', 'B=12']],
    ['P\nB=1', ['P=shell', 'B=1']],
    ['P', ['P=shell']],
    ['NAME \nB=1', ['B=1']],
    ['A=1\nNAME', ['A=1']],
  ])('parseDotenv reads %j', (text, values) => {
    const result = read(text)
    expect(result.values).toEqual(values)
    expect(result.found).toEqual([])
  })

  it('parseDotenv distinguishes inherited names from assigned ones', () => {
    expect(read('P\nA=1').entries.map(entry => entry.inherited)).toEqual([true, false])
  })

  it('the span is that of the value, or of the name without a value', () => {
    expect(read('A=1 # c\nB="a\\tb"\nC=\'x\'\nD=\nP\nE=${P}\nexport F = y').spans).toEqual([
      '1',
      'a\\tb',
      'x',
      'D',
      'P',
      '${P}',
      'y',
    ])
  })
})

describe('errors', () => {
  it.each([
    ['=x', ['dotenv/empty-name 1:1 ='], []],
    ['A=1\n :x', ['dotenv/empty-name 2:2 :'], ['A=1']],
    ['A B=1\nC=2', ['dotenv/invalid-name 1:2  '], ['C=2']],
    ['A\tB=1', ['dotenv/invalid-name 1:2 \t'], []],
    ['A/B=1', ['dotenv/invalid-name 1:2 /'], []],
    ['- A=1', ['dotenv/invalid-name 1:2  '], []],
    ['é😀=1', ['dotenv/invalid-name 1:2 😀'], []],
    ['NAME # c', ['dotenv/invalid-name 1:6 #'], []],
    ["A='a''b'\nB=1", ["dotenv/invalid-name 1:6 '"], ['A=a', 'B=1']],
    ['A="a" "b"', ['dotenv/invalid-name 1:7 "'], ['A=a']],
    ['A="x', ['dotenv/unterminated-quote 1:3 "x'], []],
    ["\nA='x\nB=1", ["dotenv/unterminated-quote 2:3 'x"], ['B=1']],
    ['A="x"junk\nB=1', ['dotenv/dropped-text 1:6 junk'], ['A=x', 'B=1']],
    ['A="x" P', ['dotenv/dropped-text 1:7 P'], ['A=x', 'P=shell']],
    ['K= # c', ['dotenv/comment-in-value 1:4 # c'], ['K=# c']],
    ['A=${U', ['dotenv/invalid-expression 1:3 ${U'], []],
    ['A="\\t${1}"\nB=1', ['dotenv/invalid-expression 1:6 ${1}'], ['B=1']],
    ['A="${U:-"x"}"\nB=1', ['dotenv/invalid-expression 1:4 ${U:-'], ['B=1']],
    ['A="\\"\\$\\" $U"', ['dotenv/unset 1:11 $U'], ['A="$" ']],
    ['A=\\$U', ['dotenv/unset 1:4 $U'], ['A=\\']],
    ['A=x ${Z:?m}', ['dotenv/required 1:5 ${Z:?m}'], []],
    ['A="\n${Z:?m}"', ['dotenv/required 2:1 ${Z:?m}'], []],
  ])('parseDotenv reports the error in %j', (text, found, values) => {
    const result = read(text)
    expect(result.found).toEqual(found)
    expect(result.values).toEqual(values)
  })

  it('a hint explains an inner quote that ends the value', () => {
    expect(read('A="${U:-"x"}"').diagnostics[0]!.hint).toBe('a `"` ends the value; inside it write `\\"`')
  })

  it('the diagnostic of a required variable has the message of the user', () => {
    expect(read('A=${Z:?set Z for $P}').diagnostics[0]!.message).toBe('`Z` is required: set Z for shell')
  })

  it('messages name labels in a label file', () => {
    const reporter = new Reporter()
    parseDotenv(new SourceFile('labels', 'a/b=1'), outside, reporter, { labels: true })
    expect(reporter.diagnostics()[0]!.message).toBe('`/` cannot be in the name of a label')
  })

  it('values that double with each line are refused', () => {
    const lines = Array.from({ length: 40 }, (_, index) => `A${index + 1}=\${A${index}}\${A${index}}`)
    expect(read(['A0=0123456789', ...lines].join('\n')).found[0]).toMatch(/^dotenv\/invalid-expression/)
  })
})

describe('raw files', () => {
  it.each([
    ['A=1\n\nB=2', ['A=1', 'B=2'], []],
    ["A='x'", ["A='x'"], []],
    ['A=1 ', ['A=1 '], []],
    ['A=$P # c', ['A=$P # c'], []],
    ['A=b=c', ['A=b=c'], []],
    ['A=\tb\\', ['A=\tb\\'], []],
    ['  # c\n#d\nA=', ['A='], []],
    ['\ufeffA=b\r\n', ['A=b'], []],
    ['  A=1', ['A=1'], []],
    ['P\nU\nA:b', ['P=shell'], []],
    ['=x', [], ['dotenv/empty-name 1:1 =']],
    ['A =1\nB=1', ['B=1'], ['dotenv/invalid-name 1:2  ']],
    ['export A=1', [], ['dotenv/invalid-name 1:7  ']],
  ])('parseRawEnv reads %j', (text, values, found) => {
    const result = read(text, parseRawEnv)
    expect(result.values).toEqual(values)
    expect(result.found).toEqual(found)
  })

  it('the span is that of the value, or of the name without a value', () => {
    expect(read(' A=1\nB=\nP', parseRawEnv).spans).toEqual(['1', 'B', 'P'])
  })
})

it('a variable with an invalid value is not reported as unset', () => {
  expect(read('A=${P\nB="x\nC=$A').found).toEqual([
    'dotenv/invalid-expression 1:3 ${P',
    'dotenv/unterminated-quote 2:3 "x',
  ])
  expect(read('A=${P\nC=$A$U').found).toEqual(['dotenv/invalid-expression 1:3 ${P', 'dotenv/unset 2:5 $U'])
  expect(read('A B=1\nC=${A B}').found).toHaveLength(2)
})
