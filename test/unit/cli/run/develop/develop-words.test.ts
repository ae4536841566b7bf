import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { linesBehind, shellLine } from '../../../../../cli/run/develop/develop-words.ts'

test.each([
  [['npm', 'run', 'dev:web', '--port=80', './a_b,c+d@e%f'], 'npm run dev:web --port=80 ./a_b,c+d@e%f'],
  [['sh', '-c', 'cd /app && ls'], "sh -c 'cd /app && ls'"],
  [['echo', 'a  b', ''], "echo 'a  b' ''"],
  [['echo', "it's", '$HOME', '~', '*'], "echo 'it'\\''s' '$HOME' '~' '*'"],
])('the shell splits the line of %j into the same words', (words, line) => {
  expect(shellLine(words)).toBe(line)
  const split = execFileSync('sh', ['-c', `printf '%s\\0' ${line}`], { encoding: 'utf8' })
  expect(split.split('\0').slice(0, -1)).toEqual(words)
})

test('the suggested lines keep the quotes of the command', () => {
  expect(linesBehind('exec', 'api', ['sh', '-c', 'cd /app && ls'])).toBe(
    "`devctl exec api -- sh -c 'cd /app && ls'`, or `devctl exec --service api -- sh -c 'cd /app && ls'` in a deployed service",
  )
})
