import { expect, test } from 'vitest'
import { pullState, type ShownPull } from '../../../../../../platform/web/pages/webhooks/pulls.tsx'

const [old, newest] = ['a'.repeat(40), 'b'.repeat(40)]
const pull: ShownPull = { number: 7, preview: 'shop-pr-7', page: '', author: 'eve', commit: newest }

test.each([
  ['is not deployed yet', {}, 'Pending'],
  ['of which an older commit is deployed', { deployed: old }, 'Pending'],
  ['whose newest commit is deployed', { deployed: newest }, 'Deploy started'],
  ['of a fork', { isWaiting: true }, 'Waiting for approval'],
  ['that was pushed to after an approval', { deployed: old, isWaiting: true }, 'Waiting for approval'],
  ['that gets none', { problem: 'it is of a fork', deployed: old }, 'No preview'],
] as const)('pullState for a request "%s" is %s', (_, more, word) => {
  expect(pullState({ ...pull, ...more }).word).toBe(word)
})

test('a request whose newest commit is deployed has the state of its preview', () => {
  const failed = { tone: 'bad', icon: 'warn', word: 'Deploy of shop failed' } as const
  expect(pullState({ ...pull, deployed: newest }, failed)).toEqual(failed)
  expect(pullState({ ...pull, deployed: old }, failed).word).toBe('Pending')
})
