import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { OperationEvent } from '../../../../api/events.ts'
import type { UpQuestions } from '../../../../develop/context.ts'
import type { LocalFolder } from '../../../../develop/files/sync-folders.ts'
import { EmptiedFolders } from '../../../../develop/session/emptied-folders.ts'

const FOLDER = { name: '0', written: './api', remote: '/app' } as LocalFolder // only these fields are reported
const STOPPED = { kind: 'stopped', folder: '0', side: 'remote', loss: { files: 1_400, of: 3_032 } } as const
const CONTINUED = { kind: 'continued', folder: '0', side: 'remote' } as const

/** Returns the folders of a session whose user is asked by `ask`, the reported events, and the answers. */
function session(ask?: UpQuestions['whatOfEmptied']) {
  const told: OperationEvent[] = []
  const answers: string[] = []
  const folders = new EmptiedFolders('api', [FOLDER], {
    on: event => void told.push(event),
    ...(ask && { ask: { whatOfEmptied: ask } }),
  })
  const hear = async (event: typeof STOPPED | typeof CONTINUED) => {
    folders.hear(event, (_, meaning) => answers.push(meaning))
    await setImmediate()
  }
  return { folders, told, answers, hear }
}

const PAIR = { local: './api', remote: '/app' }
const LOST = { side: 'remote', loss: { files: 1_400, of: 3_032 } }

test('a question is withdrawn when the files exist again, and that is reported', async () => {
  let isAsked = false
  const { folders, told, answers, hear } = session(
    (_, signal) =>
      new Promise(resolve => {
        isAsked = true
        signal.addEventListener('abort', () => {
          isAsked = false
          resolve(undefined)
        })
      }),
  )
  await hear(STOPPED)
  expect({ isAsked, told, all: folders.all }).toEqual({ isAsked: true, told: [], all: [{ ...PAIR, ...LOST }] })
  await hear(CONTINUED)
  expect({ isAsked, answers, all: folders.all }).toEqual({ isAsked: false, answers: [], all: [] })
  expect(told).toEqual([{ type: 'sync-continued', dev: 'api', folder: PAIR }])
})

test('an answer that comes after the files exist again is ignored', async () => {
  let answer: (meaning: 'delete') => void = () => {}
  const { answers, hear } = session(
    () =>
      new Promise(resolve => {
        answer = resolve
      }),
  )
  await hear(STOPPED)
  await hear(CONTINUED)
  answer('delete')
  await setImmediate()
  expect(answers).toEqual([])
})

test('a stopped folder is reported if no user can be asked', async () => {
  const { told, hear } = session()
  await hear(STOPPED)
  expect(told).toEqual([{ type: 'sync-stopped', dev: 'api', folder: PAIR, ...LOST }])
})
