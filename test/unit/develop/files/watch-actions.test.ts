import { describe, expect, test } from 'vitest'
import type { WatchExec } from '../../../../compiler/compose/project.ts'
import {
  type ActionHandlers,
  type ActionRule,
  batchDecision,
  WatchActions,
} from '../../../../develop/files/watch-actions.ts'
import { span } from '../../../support/plan/project.ts'

const exec = (word: string): WatchExec => ({
  span,
  command: { words: [word], span },
  privileged: false,
  environment: [],
})

const rule = (
  action: ActionRule['action'],
  path: string,
  more: { readonly exec?: WatchExec; readonly isFolder?: boolean; readonly ignore?: readonly string[] } = {},
): ActionRule => ({
  action,
  patterns: { path, isFolder: more.isFolder ?? true, ignore: more.ignore ?? [], include: [] },
  ...(more.exec && { exec: more.exec }),
})

const [build, migrate] = [exec('build'), exec('migrate')]
const RULES = [
  rule('sync+exec', '/p/src', { exec: build, ignore: ['*.md'] }),
  rule('sync+exec', '/p/sql', { exec: migrate }),
  rule('sync+restart', '/p/config'),
  rule('restart', '/p/src/server'),
  rule('rebuild', '/p/package.json', { isFolder: false }),
]

describe('batchDecision', () => {
  const decide = batchDecision(RULES)
  test.each([
    ['nothing that no rule is about', ['/p/README.md', '/p/src/a.md', '/p/srcs/a.ts'], undefined],
    ['a command', ['/p/src/a.ts', '/p/src/b.ts'], { kind: 'run', execs: [build], restarts: false }],
    ['a restart', ['/p/config/app.yml'], { kind: 'run', execs: [], restarts: true }],
    [
      'all commands once, in the order of the file, and one restart',
      ['/p/config/a', '/p/sql/1.sql', '/p/src/server/x.ts', '/p/config/b'],
      { kind: 'run', execs: [build, migrate], restarts: true },
    ],
    ['only a build if a rule asks for it', ['/p/config/a', '/p/package.json', '/p/src/a.ts'], { kind: 'rebuild' }],
  ])('a batch of changes triggers %s', (_, changed, expected) => {
    expect(decide(changed)).toEqual(expected)
  })
})

/** Records the actions; the test ends their pauses and builds. */
class Hands implements ActionHandlers {
  readonly done: string[] = []
  readonly #waiting: (() => void)[] = []
  status = 0
  failure: Error | undefined

  async settled() {
    this.done.push('settled')
  }
  async exec({ command }: WatchExec) {
    this.done.push(`exec ${command.words.join(' ')}`)
    return this.status
  }
  async restart() {
    this.done.push('restart')
  }
  async rebuild() {
    this.done.push('rebuild')
    await this.#next()
    if (this.failure) throw this.failure
  }
  pause(_: number, signal: AbortSignal) {
    return this.#next(signal)
  }
  #next(signal?: AbortSignal) {
    return new Promise<void>((resolve, reject) => {
      this.#waiting.push(resolve)
      signal?.addEventListener('abort', () => reject(signal.reason))
    })
  }
  /** Ends the oldest pause or build, and waits for what follows. */
  async step() {
    await settle()
    this.#waiting.shift()?.()
    await settle()
  }
}

const settle = () => new Promise<void>(resolve => setImmediate(resolve))

function start(hands: Hands) {
  const events: string[] = []
  const stop = new AbortController()
  const actions = new WatchActions(RULES, hands, {
    now: () => 0,
    on: event => events.push(event.type === 'failed' ? `failed ${(event.error as Error).message}` : event.type),
  })
  const ended = actions.run(stop.signal).catch((reason: unknown) => reason)
  return { actions, events, stop: (reason: Error) => stop.abort(reason), ended }
}

describe('WatchActions', () => {
  test('actions wait until changes and files have settled, then run once', async () => {
    const hands = new Hands()
    const { actions, events, stop, ended } = start(hands)
    actions.add(['/p/src/a.ts'])
    await settle()
    actions.add(['/p/config/a', '/p/sql/1.sql'])
    await hands.step()
    expect(hands.done).toEqual([])
    await hands.step()
    expect(hands.done).toEqual(['settled', 'exec build', 'exec migrate', 'restart'])
    expect(events).toEqual(['begun', 'ended'])
    const reason = new Error('over')
    stop(reason)
    expect(await ended).toBe(reason)
  })

  test('actions run one at a time; changes made meanwhile form the next batch', async () => {
    const hands = new Hands()
    const { actions, stop, ended } = start(hands)
    actions.add(['/p/package.json'])
    await hands.step()
    await hands.step()
    expect(hands.done).toEqual(['rebuild'])
    actions.add(['/p/config/a'])
    await settle()
    expect(hands.done).toEqual(['rebuild'])
    await hands.step()
    await hands.step()
    await hands.step()
    expect(hands.done).toEqual(['rebuild', 'settled', 'restart'])
    stop(new Error('over'))
    await ended
  })

  test('a failed action is reported, skips the restart, and does not end the session', async () => {
    const hands = new Hands()
    hands.status = 2
    const { actions, events, stop, ended } = start(hands)
    const batch = async (path: string) => {
      actions.add([path, '/p/config/a'])
      await hands.step()
      await hands.step()
    }
    await batch('/p/src/a.ts')
    expect(hands.done).toEqual(['settled', 'exec build'])
    expect(events).toEqual(['begun', 'failed `build` ended with status 2'])
    hands.failure = new Error('the build of `web` failed')
    await batch('/p/package.json')
    await hands.step()
    expect(events.slice(2)).toEqual(['begun', 'failed the build of `web` failed'])
    hands.status = 0
    await batch('/p/src/a.ts')
    expect(hands.done.slice(-4)).toEqual(['rebuild', 'settled', 'exec build', 'restart'])
    stop(new Error('over'))
    await ended
  })
})
