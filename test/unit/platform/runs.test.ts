import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { fromRun, runName, STOP, toRun, type WantedRun } from '../../../platform/records/run.ts'
import { branchProblem, filePathProblem, readRepositoryUrl } from '../../../platform/rules/repository-url.ts'
import { decideQueue, type EndedRun, forgotten, type QueuedRun } from '../../../platform/rules/runs/queue.ts'
import { isUlid, makeUlid } from '../../../platform/rules/ulid.ts'
import { toArguments, toContexts } from '../../../platform/runner/arguments.ts'
import { toRunAnswer } from '../../../platform/server/http/answers.ts'

describe('repositories that a run may clone', () => {
  test.each([
    ['https://git.example.com/team/shop', 'https://git.example.com/team/shop', 'git.example.com', 'shop'],
    ['https://git.example.com/team/shop.git/', 'https://git.example.com/team/shop.git', 'git.example.com', 'shop'],
    [
      'https://Git.Example.com:8443/~ann/a/b/shop',
      'https://git.example.com:8443/~ann/a/b/shop',
      'git.example.com:8443',
      'shop',
    ],
    ['ssh://git@git.example.com/team/shop.git', 'ssh://git@git.example.com/team/shop.git', 'git.example.com', 'shop'],
    ['https://10.0.0.7/team/shop', 'https://10.0.0.7/team/shop', '10.0.0.7', 'shop'],
    ['https://git.example.com:443/a/shop', 'https://git.example.com:443/a/shop', 'git.example.com:443', 'shop'],
    ['ssh://git.example.com:443/a/shop', 'ssh://git.example.com:443/a/shop', 'git.example.com:443', 'shop'],
  ])('the repository %s is allowed', (text, url, host, name) => {
    expect(readRepositoryUrl(text)).toEqual({ ok: true, repository: { url, host, name } })
  })

  test.each([
    'ext::sh -c id',
    'file:///etc',
    '/etc/passwd',
    '--upload-pack=id',
    'http://git.example.com/team/shop',
    'git://git.example.com/team/shop',
    'https://ann:secret@git.example.com/team/shop',
    'https://token@git.example.com/team/shop',
    'ssh://-oProxyCommand=id/shop',
    'ssh://git@-oProxyCommand=id/shop',
    'ssh://git:secret@git.example.com/shop',
    'https://git.example.com',
    'https://git.example.com/',
    'https://git.example.com/../etc',
    'https://git.example.com/a/./b',
    'https://git.example.com/a b',
    'https://git.example.com/a\nhttps://other.example.com/b',
    'https://git.example.com/--upload-pack=id',
    'https://git.example.com/a?b=c',
    'https://git.example.com/a#b',
    'https://git.example.com\\@other.example.com/a',
    'https:/git.example.com/a',
    'https://git.example.com:99999/a',
    'https://forge127.0.0.1/a',
    'https://127.1/a',
    'https://git.0x7f/a',
    `https://git.example.com/${'a'.repeat(1000)}`,
  ])('the repository %s is refused', text => {
    expect(readRepositoryUrl(text)).toMatchObject({ ok: false })
  })

  test.each(['main', 'feature/login', 'v1.2.3', 'ü', 'a-b_c'])('the branch %s is allowed', name => {
    expect(branchProblem(name)).toBeUndefined()
  })
  test.each([
    '-x',
    '--upload-pack=id',
    'a..b',
    'a b',
    '/a',
    'a/',
    '.a',
    'a/.b',
    'a.lock',
    'a~1',
    'a^',
    'a:b',
    '@',
    'a@{1}',
    'a\\b',
    'a\u0007',
    '',
  ])('the branch %j is refused', name => {
    expect(branchProblem(name)).toBeTypeOf('string')
  })
  test.each(['/etc/passwd', '../x', 'a/../../b', '-f', 'C:\\x', 'a\\..\\b', 'a\nb'])('the file %j is refused', path => {
    expect(filePathProblem(path)).toBeTypeOf('string')
  })
  test.each(['compose.yaml', 'deploy/devctl.yml', '.devctl/compose.yaml', 'a..b'])('the file %s is allowed', path => {
    expect(filePathProblem(path)).toBeUndefined()
  })
})

describe('the queue', () => {
  const run = (id: string, more: Partial<QueuedRun> = {}): QueuedRun => ({
    id,
    namespace: 'team',
    environment: `env-${id}`,
    action: 'deploy',
    user: `user-${id}`,
    state: 'queued',
    ...more,
  })
  const limits = { perUser: 3, inAll: 10 }
  const nothing = { start: [], replace: [], stop: [] }

  test('the queue starts the oldest runs first, within the limits', () => {
    const ann = ['1', '2', '3', '4'].map(id => run(id, { user: 'ann' }))
    expect(decideQueue([...ann].reverse(), limits)).toEqual({ ...nothing, start: ['1', '2', '3'] })
    expect(decideQueue([run('1', { state: 'running' }), run('2'), run('3')], { perUser: 3, inAll: 2 })).toEqual({
      ...nothing,
      start: ['2'],
    })
    // A user with too many runs does not hold up other users.
    const busy = [1, 2, 3].map(id => run(`${id}`, { user: 'ann', state: 'running' }))
    expect(decideQueue([...busy, run('4', { user: 'ann' }), run('5')], limits)).toEqual({ ...nothing, start: ['5'] })
  })

  test('runs of webhooks take no place of the runs that a user starts', () => {
    const ann = { user: 'ann' }
    const byHook = ['1', '2', '3', '4'].map(id => run(id, { ...ann, hook: 'h' }))
    const own = ['5', '6', '7', '8'].map(id => run(id, ann))
    expect(decideQueue([...byHook, ...own], limits)).toEqual({ ...nothing, start: ['1', '2', '3', '5', '6', '7'] })
    const busy = own.map(one => ({ ...one, state: 'running' as const }))
    expect(decideQueue([...busy.slice(0, 3), ...byHook], limits)).toEqual(nothing)
  })

  test('an environment has one run at a time; a newer one replaces waiting ones and stops a deploy', () => {
    const same = { environment: 'shop' }
    const running = run('1', { ...same, state: 'running' })
    expect(decideQueue([running, run('2', same), run('3', same)], limits)).toEqual({
      start: [],
      replace: ['2'],
      stop: ['1'],
    })
    expect(decideQueue([{ ...running, state: 'stopping' }, run('3', same)], limits)).toEqual(nothing)
    expect(decideQueue([{ ...running, action: 'destroy' }, run('3', same)], limits)).toEqual(nothing)
    expect(decideQueue([run('1', { ...same, namespace: 'other', state: 'running' }), run('3', same)], limits)).toEqual({
      ...nothing,
      start: ['3'],
    })
  })

  test('the queue respects its limits, and the last request of each environment runs in the end', () => {
    const any = fc.record({
      environment: fc.constantFrom('a', 'b', 'c', 'd'),
      user: fc.constantFrom('ann', 'bob'),
      action: fc.constantFrom('deploy' as const, 'destroy' as const),
    })
    fc.assert(
      fc.property(
        fc.array(any, { maxLength: 15 }),
        fc.integer({ min: 1, max: 3 }),
        fc.integer({ min: 1, max: 4 }),
        (wanted, perUser, inAll) => {
          let runs: QueuedRun[] = wanted.map((one, at) => run(String(at).padStart(2, '0'), one))
          const done = new Set<string>()
          for (let round = 0; runs.length > 0; round++) {
            expect(round).toBeLessThan(50)
            const { start, replace } = decideQueue(runs, { perUser, inAll })
            runs = runs
              .filter(({ id }) => !replace.includes(id))
              .map(one => (start.includes(one.id) ? { ...one, state: 'running' as const } : one))
            const active = runs.filter(({ state }) => state === 'running')
            expect(active.length).toBeLessThanOrEqual(inAll)
            expect(new Set(active.map(({ environment }) => environment)).size).toBe(active.length)
            for (const who of ['ann', 'bob'])
              expect(active.filter(({ user }) => user === who).length).toBeLessThanOrEqual(perUser)
            const [first] = active
            expect(first).toBeDefined()
            expect(done).not.toContain(first!.id)
            done.add(first!.id)
            runs = runs.filter(one => one !== first)
          }
          // The last request of each environment has run.
          for (const environment of new Set(wanted.map(one => one.environment))) {
            const last = wanted.findLastIndex(one => one.environment === environment)
            expect(done).toContain(String(last).padStart(2, '0'))
          }
        },
      ),
    )
  })

  describe('the history of runs', () => {
    const ended = (id: number, environment: string, more: Partial<EndedRun> = {}): EndedRun => ({
      id: String(id).padStart(3, '0'),
      namespace: 'team',
      environment,
      action: 'deploy',
      state: 'failed',
      hasCommit: false,
      ...more,
    })
    const limits = { perEnvironment: 10, perNamespace: 100 }

    test('forgotten selects all but the newest runs of each environment and namespace', () => {
      const shop = Array.from({ length: 12 }, (_, at) => ended(at, 'shop'))
      expect(forgotten(shop, limits)).toEqual(['001', '000'])
      const many = Array.from({ length: 8 }, (_, at) => ended(at, `env-${at}`))
      expect(forgotten(many, { perEnvironment: 10, perNamespace: 5 })).toEqual(['002', '001', '000'])
    })

    const deploy = { state: 'succeeded', hasCommit: true } as const
    test.each<readonly [string, readonly EndedRun[], readonly string[]]>([
      ['the last deploy is kept', [ended(0, 'shop', deploy), ended(1, 'shop', deploy)], ['000']],
      ['a deploy that failed after its clone is kept', [ended(0, 'shop', { hasCommit: true })], []],
      [
        'a deploy that was destroyed is not kept',
        [ended(0, 'shop', deploy), ended(1, 'shop', { action: 'destroy', state: 'succeeded' })],
        ['001', '000'],
      ],
      [
        'a deploy whose destroy failed is kept',
        [ended(0, 'shop', deploy), ended(1, 'shop', { action: 'destroy' })],
        ['001'],
      ],
      [
        'the deploy of another environment or namespace does not count',
        [ended(0, 'shop', deploy), ended(1, 'blog', deploy), ended(2, 'shop', { ...deploy, namespace: 'other' })],
        [],
      ],
    ])('forgotten keeps what a deletion needs for the destroy commands: %s', (_, runs, wanted) => {
      const later = Array.from({ length: 10 }, (_, at) => ended(at + 10, 'shop'))
      expect(forgotten([...runs, ...later], limits)).toEqual(wanted)
    })

    test('forgotten keeps a limited number of deploys, however many environments were deployed', () => {
      const many = Array.from({ length: 8 }, (_, at) => ended(at, `env-${at}`, deploy))
      const later = Array.from({ length: 5 }, (_, at) => ended(at + 10, 'shop'))
      expect(forgotten([...many, ...later], { perEnvironment: 10, perNamespace: 5 })).toEqual(['002', '001', '000'])
    })
  })
})

describe('records of runs', () => {
  const wanted: WantedRun = {
    id: makeUlid(1_700_000_000_000, new Uint8Array(10)),
    namespace: 'team',
    namespaceUid: 'a-uid',
    environment: 'shop',
    action: 'deploy',
    user: 'abcdefghijklmnop',
    repository: 'https://git.example.com/team/shop',
  }
  const job = (more: object = {}): KubeObject => {
    const { metadata, ...rest } = fromRun(wanted, {})
    return {
      ...rest,
      metadata: { ...metadata, uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
      ...more,
    } as KubeObject
  }

  test('ids of runs sort by time', () => {
    const at = (time: number) => makeUlid(time, new Uint8Array(10).fill(255))
    expect([at(2), at(1), at(1e12)].sort()).toEqual([at(1), at(2), at(1e12)])
    expect(isUlid(at(Date.now()))).toBe(true)
    expect(runName(at(1))).toMatch(/^r-[0-9a-z]{26}$/)
  })

  test('toRun reads what fromRun wrote', () => {
    const { metadata, ...rest } = fromRun({ ...wanted, variables: ['A', 'B'] }, {})
    const named = toRun({ ...rest, metadata: { ...metadata, uid: 'u', resourceVersion: '1' } })
    expect([named?.variables, named?.moreVariables]).toEqual([['A', 'B'], undefined])
    expect(toRun(job())).toMatchObject({ ...wanted, state: 'queued', isSettled: false, found: {} })
  })

  test('a record has the first of many variable names, and the number of the others', () => {
    const variables = Array.from({ length: 200 }, (_, at) => `${'V'.repeat(125)}${100 + at}`)
    const { metadata, ...rest } = fromRun({ ...wanted, variables }, {})
    expect(JSON.stringify(metadata.annotations).length).toBeLessThan(6000)
    const read = toRun({ ...rest, metadata: { ...metadata, uid: 'u', resourceVersion: '1' } })!
    expect(read.variables!.length).toBeGreaterThan(20)
    expect(read.variables).toEqual(variables.slice(0, read.variables!.length))
    expect(read.moreVariables).toBe(200 - read.variables!.length)
    expect(toRunAnswer(read, new Map())).toMatchObject({ moreVariables: read.moreVariables })
  })

  test.each<[string, object, string]>([
    ['queued', {}, 'queued'],
    ['running', { spec: { suspend: false }, status: { active: 1, startTime: '2026-01-01T00:00:01Z' } }, 'running'],
    ['not begun yet', { spec: { suspend: false } }, 'running'],
    ['done', { spec: {}, status: { conditions: [{ type: 'Complete', status: 'True' }] } }, 'succeeded'],
    ['failed', { spec: {}, status: { conditions: [{ type: 'Failed', status: 'True' }] } }, 'failed'],
    ['suspended', { status: { conditions: [{ type: 'Suspended', status: 'True' }] } }, 'queued'],
  ])('toRun reads the state of a run that is %s', (_, more, state) => {
    expect(toRun(job(more))?.state).toBe(state)
  })

  test('a run that was stopped has ended when its Pod has ended', () => {
    const stopped = job()
    const metadata = {
      ...stopped.metadata,
      annotations: { ...stopped.metadata.annotations, [STOP]: '{"why":"replaced","time":"2026-01-01T00:00:00Z"}' },
    }
    expect(toRun({ ...stopped, metadata })?.state).toBe('replaced')
    expect(toRun({ ...stopped, metadata, spec: { suspend: true }, status: { active: 1 } })?.state).toBe('stopping')
    expect(toRun({ ...stopped, metadata, spec: {}, status: { active: 1 } })?.state).toBe('stopping')
    const done = { conditions: [{ type: 'Complete', status: 'True' }] }
    expect(toRun({ ...stopped, metadata, status: done })?.state).toBe('succeeded')
  })

  test('toRun ignores anything else, and throws no error', () => {
    fc.assert(
      fc.property(fc.anything(), fc.anything(), fc.anything(), fc.anything(), (annotation, spec, status, found) => {
        const whole = job({ spec, status })
        const { annotations = {}, ...metadata } = whole.metadata
        const poisoned = { ...annotations, 'dev.platform/found': found, [STOP]: annotation } as Record<string, string>
        expect(toRun({ ...whole, metadata: { ...metadata, annotations: poisoned } })?.id).toBe(wanted.id)
        const all = { 'dev.platform/run': annotation } as Record<string, string>
        expect(toRun({ ...whole, metadata: { ...metadata, annotations: all } })).toBeUndefined()
      }),
    )
    const { metadata } = job()
    const other = { ...metadata, labels: { ...metadata.labels, 'dev.platform/namespace': 'other' } }
    expect(toRun({ ...job(), metadata: other })).toBeUndefined()
  })
})

test('the arguments of a run are one command, and no value can become an option', () => {
  const input = {
    action: 'deploy' as const,
    isCloned: true,
    environment: 'shop',
    namespace: 'team',
    file: '-f',
    variables: { A: '--b' },
    url: '',
    token: 'secret',
    domain: '',
  }
  expect(toArguments(input)).toEqual([
    'deploy',
    '--wait',
    '--output=json',
    '--name=shop',
    '--namespace=team',
    '--timeout=24h',
    '--file=-f',
    '--var=A=--b',
  ])
  expect(toArguments({ ...input, action: 'destroy', volumes: true, variables: {} })).not.toContain('--output=json')
  expect(toArguments(input).join(' ')).not.toContain('secret')
  const contexts = JSON.stringify(toContexts({ ...input, url: 'https://p.example.com', user: 'ann' }, 'the authority'))
  expect(JSON.parse(contexts)).toMatchObject({
    current: 'https://p.example.com',
    contexts: { 'https://p.example.com': { token: 'secret', namespace: 'team', user: 'ann' } },
  })
  // The namespace of a fork admits no other Pods.
  expect(toArguments({ ...input, isFork: true })).toContain('--policy=restricted')
  expect(toArguments({ ...input, isFork: true, action: 'destroy' })).not.toContain('--policy=restricted')
})
