import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { OperationEvent } from '../../../../api/events.ts'
import type { UpQuestions } from '../../../../develop/context.ts'
import type { LocalFolder } from '../../../../develop/files/sync-folders.ts'
import { EmptiedFolders } from '../../../../develop/session/emptied-folders.ts'

const FOLDER = { name: '0', written: './api', remote: '/app' } as LocalFolder // what is told of it
const STOPPED = { kind: 'stopped', folder: '0', side: 'remote', loss: { files: 1_400, of: 3_032 } } as const
const CONTINUED = { kind: 'continued', folder: '0', side: 'remote' } as const

/** The folders of a session whose person is asked by `ask`, what it has told, and its answers. */
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

test('a question is taken back when the files are there again, and that is told', async () => {
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

test('an answer that comes too late is none', async () => {
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

test('without a person, what has stopped is told', async () => {
  const { told, hear } = session()
  await hear(STOPPED)
  expect(told).toEqual([{ type: 'sync-stopped', dev: 'api', folder: PAIR, ...LOST }])
})
