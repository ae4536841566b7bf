import { afterEach, describe, expect, test } from 'vitest'
import { ClusterError } from '../../../../adapters/kubernetes/cluster.ts'
import { formatTime } from '../../../../environment/logs/line.ts'
import { type LogContext, type LogRequest, MAX_OPEN_LOGS, showLogs } from '../../../../environment/logs/logs.ts'
import { isFinished, runOf, slimPod, sourcesOf } from '../../../../environment/logs/source.ts'
import { controllerOf } from '../../../../environment/status/owners.ts'
import { settle } from '../../../support/objects/fake-clock.ts'
import { FakePods } from '../../../support/objects/fake-pods.ts'

const open = new Set<AbortController>()
afterEach(() => {
  for (const one of open) one.abort()
  open.clear()
})

/** Runs `showLogs` on fake Pods, and gathers what it prints. */
function show(pods: FakePods, request: Partial<LogRequest> = {}, world: Partial<LogContext> = {}) {
  const lines: string[] = []
  const notices: string[] = []
  const stop = new AbortController()
  open.add(stop)
  const done = showLogs(
    {
      cluster: pods.cluster,
      namespace: 'shop',
      environment: 'shop',
      range: { tail: 100, since: 48 * 3_600_000 },
      follow: true,
      isWanted: () => true,
      ...request,
    },
    {
      clock: pods,
      signal: stop.signal,
      print: ({ name }, { text }) => {
        lines.push(`${name}: ${text}`)
      },
      found: () => {},
      nothing: () => void notices.push('nothing'),
      crowded: () => notices.push('crowded'),
      ended: ({ name }, { code }) => notices.push(`${name} ended with ${code}`),
      troubled: ({ name }) => notices.push(`${name} troubled`),
      word: (_, text) => notices.push(text),
      ...world,
    },
  )
  const result = done.then(
    () => 'done' as const,
    error => error as unknown,
  )
  return { lines, notices, stop, result }
}

const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => `line ${from + index}`)
const marked = (name: string, texts: readonly string[]) => texts.map(text => `${name}: ${text}`)

test('slimPod keeps only what the logs of a Pod need', () => {
  const pods = new FakePods()
  pods.add('api-1', 'api', { owner: 'job' })
  pods.start('api-1')
  pods.end('api-1', 3)
  const [found] = pods.objects
  const metadata = { ...found!.metadata, annotations: { big: 'x'.repeat(1000) }, managedFields: [] }
  const whole = { ...found!, metadata, spec: { containers: [{ name: 'api', args: ['x'.repeat(1000)] }] } }
  const slim = slimPod(whole)
  expect(JSON.stringify(slim).length).toBeLessThan(800)
  expect(sourcesOf(slim)).toEqual(sourcesOf(whole))
  expect(runOf(slim, 'api')).toEqual(runOf(whole, 'api'))
  expect(isFinished(slim)).toBe(isFinished(whole))
  expect(controllerOf(slim)).toEqual(controllerOf(whole))
})

describe('the history', () => {
  test.each([true, false])(
    'of the runs of a job that have ended, only the newest is printed (follow: %s)',
    async follow => {
      const pods = new FakePods()
      for (const [index, name] of ['backup-1', 'backup-2', 'backup-3'].entries()) {
        pods.add(name, 'backup', { owner: `run-${index}` })
        pods.start(name)
        pods.write(name, ['done'])
        if (index > 0) pods.end(name, 0, { phase: 'Succeeded' })
        pods.finishJob(`run-${index}`, 'Complete')
        pods.skip(1000)
      }
      const { lines, stop } = show(pods, { follow })
      await settle()
      stop.abort()
      // The first still runs.
      expect(lines).toEqual(['backup-1: done', 'backup-3: done'])
    },
  )

  test('the history of all Pods is printed in the order of time', async () => {
    const pods = new FakePods()
    pods.add('api-1', 'api')
    pods.start('api-1')
    pods.add('db-0', 'db')
    pods.start('db-0')
    pods.write('api-1', ['first'])
    pods.write('db-0', ['second', 'third'])
    pods.write('api-1', ['fourth'])
    const { lines, result } = show(pods, { follow: false })
    expect(await result).toBe('done')
    expect(lines).toEqual(['api-1: first', 'db-0: second', 'db-0: third', 'api-1: fourth'])
  })

  test('the history ends with the last lines, also those before a restart', async () => {
    const pods = new FakePods()
    pods.add('api-1', 'api')
    pods.start('api-1')
    pods.write('api-1', numbers(0, 10))
    pods.end('api-1', 1)
    pods.start('api-1')
    pods.write('api-1', ['again'])
    const { lines, result } = show(pods, { follow: false, range: { tail: 3 } })
    expect(await result).toBe('done')
    expect(lines).toEqual(marked('api-1', ['line 8', 'line 9', 'again']))
  })

  test('the history is limited by time', async () => {
    const pods = new FakePods()
    pods.add('api-1', 'api')
    pods.start('api-1')
    pods.write('api-1', ['old'])
    await pods.pass(10_000)
    pods.write('api-1', ['new'])
    const { lines, result } = show(pods, { follow: false, range: { since: 5000 } })
    expect(await result).toBe('done')
    expect(lines).toEqual(['api-1: new'])
  })

  test('the history does not wait for a node that does not answer', async () => {
    const pods = new FakePods()
    for (const name of ['api-1', 'db-0']) {
      pods.add(name, name.slice(0, -2))
      pods.start(name)
      pods.write(name, [`of ${name}`])
    }
    const { logs } = pods.cluster
    let answer = () => {}
    const answered = new Promise<void>(resolve => {
      answer = resolve
    })
    pods.cluster.logs = async function* (pod, options) {
      if (pod.name === 'api-1') await answered
      yield* logs(pod, options)
    }
    const { lines, result } = show(pods)
    await settle()
    expect(lines).toEqual([])
    await pods.pass(5000)
    expect(lines).toEqual(['db-0: of db-0'])
    pods.write('db-0', ['more'])
    await settle()
    answer()
    await settle()
    expect(lines).toEqual(['db-0: of db-0', 'db-0: more', 'api-1: of api-1'])
    expect(result).toBeInstanceOf(Promise)
  })
})

describe('showLogs with `follow`', () => {
  test('showLogs continues where the history ended', async () => {
    const pods = new FakePods()
    pods.add('api-1', 'api')
    pods.start('api-1')
    pods.write('api-1', numbers(0, 5))
    const { lines } = show(pods, { range: { tail: 2 } })
    await settle()
    pods.write('api-1', numbers(5, 8))
    await settle()
    expect(lines).toEqual(marked('api-1', numbers(3, 8)))
  })

  test('showLogs shows a new Pod from its start, and requests its log only once it runs', async () => {
    const pods = new FakePods()
    const { lines } = show(pods, { range: { tail: 0 } })
    await settle()
    pods.add('api-1', 'api')
    await settle()
    await pods.pass(60_000)
    expect(pods.calls).toEqual([])
    pods.start('api-1')
    pods.write('api-1', numbers(0, 200))
    await settle()
    expect(lines).toEqual(marked('api-1', numbers(0, 200)))
    expect(pods.calls).toEqual(['api-1/api follow'])
  })

  test.each([0, 2, 100])('showLogs shows a container that starts later from its start (tail: %d)', async tail => {
    const pods = new FakePods()
    pods.add('api-1', 'api')
    const { lines } = show(pods, { range: { tail } })
    await settle()
    pods.start('api-1')
    pods.write('api-1', numbers(0, 200))
    await settle()
    expect(lines).toEqual(marked('api-1', numbers(0, 200)))
  })

  test.each([
    ['a Pod that exists', true],
    ['a new Pod', false],
  ])('showLogs shows the first run of %s, if the cluster reports it only after a restart', async (_, isThere) => {
    const pods = new FakePods()
    if (isThere) pods.add('api-1', 'api')
    const { lines, notices } = show(pods, { range: { tail: 1 } })
    await settle()
    if (!isThere) pods.add('api-1', 'api')
    await settle()
    pods.start('api-1', 'api', false)
    pods.write('api-1', numbers(0, 3))
    pods.end('api-1', 7, { report: false })
    pods.start('api-1')
    pods.write('api-1', numbers(3, 5))
    await settle()
    expect(lines).toEqual(marked('api-1', numbers(0, 5)))
    expect(notices).toEqual(isThere ? ['api-1 ended with 7'] : ['nothing', 'api-1 ended with 7'])
  })

  test.each([
    ['that the cluster knows of at once', true],
    ['that the cluster knows of later', false],
  ])('showLogs follows a restart %s, without losing or repeating a line', async (_, report) => {
    const pods = new FakePods()
    pods.add('api-1', 'api')
    pods.start('api-1')
    const { lines, notices } = show(pods)
    await settle()
    pods.write('api-1', numbers(0, 3))
    await settle()
    pods.write('api-1', ['last words'])
    pods.end('api-1', 7, { report })
    await settle()
    await pods.pass(3000)
    pods.start('api-1')
    pods.write('api-1', numbers(3, 5))
    await settle()
    expect(lines).toEqual(marked('api-1', [...numbers(0, 3), 'last words', ...numbers(3, 5)]))
    expect(notices).toEqual(['api-1 ended with 7'])
  })

  test('showLogs shows a run that started and ended during an outage', async () => {
    const pods = new FakePods()
    pods.add('api-1', 'api')
    pods.start('api-1')
    pods.write('api-1', ['one'])
    const { lines } = show(pods)
    await settle()
    pods.refusal = new ClusterError('unavailable', 'not now')
    pods.cut()
    await settle()
    pods.end('api-1', 1)
    pods.start('api-1')
    pods.write('api-1', ['two'])
    pods.end('api-1', 1)
    pods.start('api-1')
    pods.write('api-1', ['three'])
    await settle()
    pods.refusal = undefined
    await pods.pass(10_000)
    expect(lines).toEqual(marked('api-1', ['one', 'two', 'three']))
  })

  test('showLogs continues at the same line after a cut connection', async () => {
    const pods = new FakePods()
    pods.add('api-1', 'api')
    pods.start('api-1')
    const { lines, notices } = show(pods)
    await settle()
    // Coarse clocks give several lines the same time.
    pods.write('api-1', ['a', 'b', 'b'], { at: '00:00:07.5' })
    await settle()
    pods.refusal = new ClusterError('unreachable', 'no network')
    pods.cut()
    pods.write('api-1', ['b', 'c'], { at: '00:00:07.5' })
    pods.write('api-1', ['d'], { at: '00:00:08.25' })
    await pods.pass(20_000)
    pods.refusal = undefined
    await pods.pass(6000)
    expect(lines).toEqual(marked('api-1', ['a', 'b', 'b', 'b', 'c', 'd']))
    expect(new Set(notices)).toEqual(new Set(['api-1 troubled']))
  })

  test('showLogs continues with the Pods of the next rollout', async () => {
    const pods = new FakePods()
    pods.add('api-1', 'api')
    pods.start('api-1')
    const { lines, notices } = show(pods)
    pods.write('api-1', ['old'])
    await settle()
    pods.add('api-2', 'api')
    pods.start('api-2')
    pods.write('api-2', ['new'])
    await settle()
    pods.remove('api-1')
    await settle()
    await pods.pass(60_000)
    expect(lines).toEqual(['api-1: old', 'api-2: new'])
    expect(notices).toEqual([])
    expect(pods.calls.filter(call => call.startsWith('api-1'))).toHaveLength(2)
  })

  test('showLogs takes only wanted services', async () => {
    const pods = new FakePods()
    const { lines } = show(pods, { isWanted: ({ service }) => service === 'db' })
    await settle()
    pods.add('api-1', 'api')
    pods.start('api-1')
    pods.write('api-1', ['no'])
    pods.add('db-0', 'db')
    pods.start('db-0')
    pods.write('db-0', ['yes'])
    await settle()
    expect(lines).toEqual(['db-0: yes'])
    expect(pods.calls).toEqual(['db-0/db follow'])
  })

  test('showLogs reports once that nothing exists yet', async () => {
    const { notices } = show(new FakePods())
    await settle()
    expect(notices).toEqual(['nothing'])
  })

  test('showLogs ends when all Pods belong to finished Jobs', async () => {
    const pods = new FakePods()
    pods.add('migrate-1', 'migrate', { owner: 'migrate' })
    const { lines, result } = show(pods)
    await settle()
    pods.start('migrate-1')
    pods.write('migrate-1', ['done'])
    pods.end('migrate-1', 0, { phase: 'Succeeded' })
    await settle()
    let isDone = false
    result.then(() => {
      isDone = true
    })
    await settle()
    expect(isDone).toBe(false)
    pods.finishJob('migrate', 'Complete')
    expect(await result).toBe('done')
    expect(lines).toEqual(['migrate-1: done'])
  })

  test('showLogs ends when the Jobs of all finished Pods no longer exist', async () => {
    const pods = new FakePods()
    pods.add('migrate-1', 'migrate', { owner: 'migrate' })
    pods.start('migrate-1')
    pods.write('migrate-1', ['done'])
    pods.end('migrate-1', 0, { phase: 'Succeeded' })
    pods.jobs.length = 0
    const { lines, result } = show(pods)
    await settle()
    expect(await Promise.race([result, 'waits'])).toBe('done')
    expect(lines).toEqual(['migrate-1: done'])
  })

  test('showLogs continues for a Job that creates another Pod', async () => {
    const pods = new FakePods()
    pods.add('migrate-1', 'migrate', { owner: 'migrate' })
    pods.start('migrate-1')
    pods.write('migrate-1', ['no'])
    pods.end('migrate-1', 1, { phase: 'Failed' })
    const { lines, result } = show(pods)
    await settle()
    pods.add('migrate-2', 'migrate', { owner: 'migrate' })
    pods.start('migrate-2')
    pods.write('migrate-2', ['yes'])
    pods.end('migrate-2', 0, { phase: 'Succeeded' })
    pods.finishJob('migrate', 'Complete')
    expect(await result).toBe('done')
    expect(lines).toEqual(['migrate-1: no', 'migrate-2: yes'])
  })

  test('showLogs ends with the reason of its signal, also while a line waits to be printed', async () => {
    const pods = new FakePods()
    pods.add('api-1', 'api')
    pods.start('api-1')
    const { stop, result } = show(pods, {}, { print: () => new Promise(() => {}) })
    await settle()
    pods.write('api-1', ['never printed'])
    await settle()
    const reason = new Error('Ctrl-C')
    stop.abort(reason)
    expect(await result).toBe(reason)
  })

  test('showLogs fails with the error of a forbidden request', async () => {
    const pods = new FakePods()
    for (const name of ['api-1', 'api-2', 'api-3']) {
      pods.add(name, 'api')
      pods.start(name)
    }
    pods.refusal = new ClusterError('forbidden', 'pods "api-1" is forbidden: cannot get resource "pods/log"')
    expect(await show(pods).result).toBe(pods.refusal)
    expect(await show(pods, { range: { tail: 0 } }).result).toBe(pods.refusal)
  })

  test('showLogs keeps a limited number of logs open, and opens the next when one ends', async () => {
    const pods = new FakePods()
    for (let index = 0; index < MAX_OPEN_LOGS + 2; index++) {
      pods.add(`api-${index}`, 'api')
      pods.start(`api-${index}`)
    }
    const { lines, notices } = show(pods)
    await settle()
    await settle()
    expect(pods.calls.filter(call => call.endsWith('follow'))).toHaveLength(MAX_OPEN_LOGS)
    expect(notices).toContain('crowded')
    pods.write(`api-${MAX_OPEN_LOGS}`, ['waits'])
    await settle()
    expect(lines).toEqual([])
    pods.remove('api-0')
    await settle()
    expect(lines).toEqual([`api-${MAX_OPEN_LOGS}: waits`])
  })

  test('showLogs reads no faster than lines are printed', async () => {
    const pods = new FakePods()
    pods.add('api-1', 'api')
    pods.start('api-1')
    pods.write('api-1', numbers(0, 1000))
    let given = 0
    const { logs } = pods.cluster
    pods.cluster.logs = async function* (pod, options) {
      for await (const line of logs(pod, options)) {
        given++
        yield line
      }
    }
    show(pods, { range: {} }, { print: () => new Promise(() => {}) })
    await settle()
    await pods.pass(10_000)
    expect(given).toBe(1)
  })

  test('showLogs reports a message that the node sends in place of a log', async () => {
    const pods = new FakePods()
    pods.add('api-1', 'api')
    pods.start('api-1')
    const { logs } = pods.cluster
    pods.cluster.logs = async function* (pod, options) {
      if (options.follow) yield* logs(pod, options)
      else yield 'unable to retrieve container logs for containerd://1'
    }
    const { lines, notices } = show(pods)
    await settle()
    expect(notices).toEqual(['unable to retrieve container logs for containerd://1'])
    expect(lines).toEqual([])
  })

  test('showLogs passes on the time of each line', async () => {
    const pods = new FakePods()
    pods.add('api-1', 'api')
    pods.start('api-1')
    pods.write('api-1', ['x'], { at: '10:00:00.123456789' })
    const times: string[] = []
    const { result } = show(
      pods,
      { follow: false, range: {} },
      {
        print: (_, { time }) => {
          times.push(formatTime(time))
        },
      },
    )
    await result
    expect(times).toEqual(['2026-01-01T10:00:00.123456789Z'])
  })
})
