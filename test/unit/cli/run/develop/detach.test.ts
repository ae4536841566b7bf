import { expect, test } from 'vitest'
import { wordsInBackground } from '../../../../../cli/run/develop/detach.ts'

test.each<[string, string, string]>([
  ['without the option itself', 'up api --detach', 'up api'],
  ['without values of variables', 'up --env A=1 api --env=B=2 --detach --reset', 'up api --reset'],
  ['with the name that was chosen', 'up --detach', 'up chosen'],
  ['what is for the container stays', 'up api --detach -- run --detach --env A=1', 'up api -- run --detach --env A=1'],
  [
    'its words, too',
    'up api --command run --command --detach --command --env',
    'up api --command run --command --detach --command --env',
  ],
])('wordsInBackground returns the command line for the background: %s', (_, words, wanted) => {
  const names = wanted.includes('chosen') ? ['chosen'] : []
  const [given, rest] = words.split(' -- ')
  const line = [...given!.split(' '), ...(rest === undefined ? [] : ['--', ...rest.split(' ')])]
  expect(wordsInBackground(line, names).join(' ')).toBe(wanted)
})
