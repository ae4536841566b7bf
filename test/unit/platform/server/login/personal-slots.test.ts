import { expect, test } from 'vitest'
import { PersonalSlots } from '../../../../../platform/server/login/personal-slots.ts'

test('tasks of one user wait for each other, but not for those of other users', async () => {
  const slots = new PersonalSlots(2)
  const begun: string[] = []
  let finish = () => {}
  const over = new Promise<void>(resolve => {
    finish = resolve
  })
  const run = (person: string, task: string) =>
    slots.run(person, undefined, async () => {
      begun.push(`${person} ${task}`)
      await over
    })
  const all = [run('ann', '1'), run('ann', '2'), run('ann', '3'), run('bob', '1')]
  await new Promise(setImmediate)
  expect(begun).toEqual(['ann 1', 'ann 2', 'bob 1'])
  finish()
  await Promise.all(all)
  expect(begun).toEqual(['ann 1', 'ann 2', 'bob 1', 'ann 3'])
})

test('a task that is aborted before it gets a slot does not run, and blocks no other', async () => {
  const slots = new PersonalSlots(1)
  let finish = () => {}
  const over = new Promise<void>(resolve => {
    finish = resolve
  })
  const first = slots.run('ann', undefined, () => over)
  const reason = new Error('away')
  await expect(slots.run('ann', AbortSignal.abort(reason), () => Promise.resolve())).rejects.toBe(reason)
  finish()
  await first
  expect(await slots.run('ann', undefined, () => Promise.resolve('done'))).toBe('done')
})
