import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { root } from '../support/cases.ts'
import { projectFiles } from '../support/project-files.ts'

/** Openings of doc comments that say nothing about the function, type or constant: CONTRIBUTING.md, "Comments". */
const OPENINGS: Readonly<Record<string, RegExp>> = {
  'a free relative': /^(?:What|Whatever|Which|Whose|Whether|Where|Who|Whoever|Why|How)\b/,
  'a bare preposition':
    /^(?:After|Among|As|At|Before|Beside|Besides|Between|By|For|From|In|Into|Like|Of|On|Out|Over|Per|Since|Through|To|Under|Until|With|Within|Without)\b/,
  'an anaphor':
    /^(?:The same|All that|Another|Anybody|Both|Everybody|It|Nobody|One|Ones|Others|Ours|So|Some|Somebody|Such|That|Theirs|These|They|This|Those)\b/,
}
const LONGEST_LINE = 120

interface Comment {
  readonly line: number
  readonly text: string
  readonly longest: number
}

/** Returns the doc comments of a source, which begin a line. */
function docComments(source: string): readonly Comment[] {
  return [...source.matchAll(/^[ \t]*\/\*\*([\s\S]*?)\*\//gm)].map(match => ({
    line: source.slice(0, match.index).split('\n').length,
    text: match[1]!.replace(/\s*\n\s*\*?\s*/g, ' ').trim(),
    longest: Math.max(...match[0].split('\n').map(line => line.length)),
  }))
}

/** Returns the faults of a doc comment. */
function faultsOf({ text, longest }: Comment): readonly string[] {
  const openings = Object.entries(OPENINGS).flatMap(([name, opening]) =>
    opening.test(text) ? [`starts with ${name}`] : [],
  )
  return [
    ...openings,
    ...(/^[A-Za-z]+\.?$/.test(text) ? ['has one word: use a type or a name'] : []),
    ...(longest > LONGEST_LINE ? [`has a line of more than ${LONGEST_LINE} columns`] : []),
  ]
}

const sources = projectFiles().filter(
  path => /\.(?:ts|tsx|mjs)$/.test(path) && !path.startsWith('golden/') && !path.endsWith('.validators.ts'),
)

describe('doc comments', () => {
  test.each([
    ['What a server answers.', 'starts with a free relative'],
    ['Of a service.', 'starts with a bare preposition'],
    ['The same, sorted.', 'starts with an anaphor'],
    ['Milliseconds.', 'has one word: use a type or a name'],
  ])('faultsOf finds the fault of a comment: %s', (text, fault) => {
    expect(faultsOf({ line: 1, text, longest: 20 })).toEqual([fault])
  })

  test('doc comments start with a verb or a noun, and fit into 120 columns', () => {
    const faults = sources.flatMap(path =>
      docComments(readFileSync(join(root, path), 'utf8')).flatMap(comment =>
        faultsOf(comment).map(fault => `${path}:${comment.line} ${fault}: ${comment.text.slice(0, 60)}`),
      ),
    )
    expect(faults).toEqual([])
  })

  test('comments on lines of their own fit into 120 columns', () => {
    const long = sources.flatMap(path =>
      readFileSync(join(root, path), 'utf8')
        .split('\n')
        .flatMap((line, index) =>
          /^\s*\/\//.test(line) && line.length > LONGEST_LINE ? [`${path}:${index + 1}`] : [],
        ),
    )
    expect(long).toEqual([])
  })
})
