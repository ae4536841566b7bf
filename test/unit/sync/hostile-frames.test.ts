import { deflateRawSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { encodeEntry, FOLDER, linkEntry } from '../../../sync/core/entry.ts'
import { encodeFrame, type FrameType } from '../../../sync/protocol/frames.ts'
import { TwoSides } from '../../support/sync/two-sides.ts'
import { connectFakeAgent } from './fake-agent.ts'

// Each end refuses messages that devctl never sends, and nothing of that end is lost or changed.

const file = (size: number) => ['f', size, 1, 1, 1, 0]
const problems = (sides: TwoSides) =>
  sides.events.flatMap(event => (event.kind === 'problem' ? [`${event.problem.path}: ${event.problem.message}`] : []))

/** A laptop with two files. */
function laptop(options: ConstructorParameters<typeof TwoSides>[0] = {}): TwoSides {
  const sides = new TwoSides(options)
  sides.laptop.put('/home/project/a', 'one')
  sides.laptop.put('/home/project/b', 'two')
  sides.laptop.folders('/home/outside')
  sides.startLaptop()
  return sides
}

const HERE = { a: 'one', b: 'two' }

// The following messages come from the agent.

test.each<readonly [string, readonly unknown[], readonly RegExp[]]>([
  [
    'paths that lead out',
    [
      ['../outside/x', file(1)],
      ['a/../../outside/x', file(1)],
      ['/home/outside/x', file(1)],
      ['./x', file(1)],
      ['d//x', file(1)],
      ['', file(1)],
    ],
    [/leads out/, /leads out/, /absolute/, /leads out/, /leads out/, /empty/],
  ],
  ['a path that is too long', [[`${'d/'.repeat(2_100)}x`, file(1)]], [/too long/]],
  ['a name that is too long', [['ä'.repeat(130), file(1)]], [/longer than 255 bytes/]],
  ['a NUL', [['x\0y', file(1)]], [/NUL/]],
  [
    'git, as file systems read it',
    ['.git/hooks/post-checkout', '.GIT/config', '.git./x', 'git~1/x', 'sub/.git/x', '.g\u200cit/x', '.git::$DATA'].map(
      path => [path, file(1)],
    ),
    Array.from({ length: 7 }, () => /`\.git` is never written/),
  ],
  [
    'links that lead out, and what is below them',
    [
      ['l1', encodeEntry(linkEntry('/etc/passwd'))],
      ['l2', encodeEntry(linkEntry('../../outside'))],
      ['l3', encodeEntry(linkEntry('a/../../outside'))],
      ['l4', encodeEntry(linkEntry('..\\outside'))],
      ['l5', encodeEntry(linkEntry('.git/hooks'))],
      ['l6', encodeEntry(linkEntry('C:\\Windows'))],
    ],
    [/leads out/, /leads out/, /leads out/, /leads out/, /into `\.git`/, /leads out/],
  ],
])('the laptop refuses entries from the container: %s', async (_name, entries, words) => {
  const sides = laptop()
  connectFakeAgent(sides, entries, ({ type }, send) => {
    if (type === 'apply') send('answer', { results: [{ k: 'done', e: file(3) }] })
    else if (type === 'read') send('answer', { results: [{ k: 'read', size: 1 }] }, [Buffer.from('x')])
  })
  await sides.clock.run(3_000)
  expect(sides.files('local')).toEqual(HERE)
  expect(sides.laptop.files('/home/outside')).toEqual({})
  const told = problems(sides)
  expect(told).toHaveLength(words.length)
  for (const [at, one] of words.entries()) expect(told[at]).toMatch(one)
  await sides.close()
})

test('names of devices, and others that Windows does not allow, are not written on Windows', async () => {
  const sides = laptop({ platform: 'win32' })
  const names = ['CON', 'nul.txt', 'COM1', 'lpt¹', 'a:b', 'trailing.', 'blank ', 'back\\slash', 'conin$', 'ques?tion']
  connectFakeAgent(
    sides,
    names.map(name => [name, file(1)]),
    ({ type }, send) => type === 'read' && send('answer', { results: [{ k: 'read', size: 1 }] }, [Buffer.from('x')]),
  )
  await sides.clock.run(3_000)
  expect(sides.files('local')).toEqual(HERE)
  expect(problems(sides)).toHaveLength(names.length)
  for (const one of problems(sides)) expect(one).toMatch(/Windows/)
  await sides.close()
})

test('names that differ only in case or in the form of accents are not written', async () => {
  const sides = laptop({ platform: 'darwin' })
  sides.laptop.put('/home/project/\u00e9', 'mine')
  connectFakeAgent(
    sides,
    [
      ['e\u0301', file(1)],
      ['A', file(1)],
    ],
    ({ type }, send) => {
      if (type === 'read') send('answer', { results: [{ k: 'read', size: 1 }] }, [Buffer.from('x')])
    },
  )
  await sides.clock.run(3_000)
  expect(sides.files('local')).toEqual({ ...HERE, '\u00e9': 'mine' })
  expect(problems(sides).filter(one => one.includes('same name'))).toHaveLength(2)
  await sides.close()
})

test('the container changes no file here with `direction: up`', async () => {
  const sides = laptop({ direction: 'up' })
  const asked: string[] = []
  connectFakeAgent(
    sides,
    [
      ['new', file(1)],
      ['d', encodeEntry(FOLDER)],
    ],
    (frame, send) => {
      asked.push(frame.type)
      if (frame.type !== 'apply') return
      const items = frame.header['items'] as readonly unknown[]
      send('answer', { results: items.map(() => ({ k: 'done', e: file(3) })) })
      send('changed', {
        seq: 1,
        folder: '0',
        entries: [
          ['a', null],
          ['b', file(9)],
          ['more', file(1)],
        ],
      })
    },
  )
  await sides.clock.run(5_000)
  expect(sides.files('local')).toEqual(HERE)
  expect(asked).not.toContain('fetch')
  await sides.close()
})

test('nothing is written through a link that replaces a folder while a file comes', async () => {
  const sides = laptop()
  sides.laptop.folders('/home/project/d')
  connectFakeAgent(
    sides,
    [
      ['d', encodeEntry(FOLDER)],
      ['d/x', file(1)],
    ],
    ({ type }, send) => {
      if (type !== 'read') return
      sides.laptop.removeAll('/home/project/d')
      sides.laptop.makeLink('../outside', '/home/project/d')
      send('answer', { results: [{ k: 'read', size: 1 }] }, [Buffer.from('x')])
    },
  )
  await sides.clock.run(3_000)
  expect(sides.laptop.files('/home/outside')).toEqual({})
  await sides.close()
})

const deflated = deflateRawSync(Buffer.alloc(1_000_000))

/** Answers to a question for the contents of `new`, which has 3 bytes. */
test.each<readonly [string, object, readonly Uint8Array[]]>([
  ['fewer bytes than it says', { results: [{ k: 'read', size: 3 }] }, [Buffer.from('x')]],
  ['no result', { results: [] }, []],
  ['a result of no kind', { results: [7] }, []],
  ['a negative size', { results: [{ k: 'read', size: -1 }] }, []],
  ['a size that is no number', { results: [{ k: 'read', size: '3' }] }, [Buffer.from('xyz')]],
  ['more than it says when it is inflated', { results: [{ k: 'read', size: 3 }], raw: 3 }, [deflated]],
  ['more than a message may have', { results: [{ k: 'read', size: 3 }], raw: 1e9 }, [deflated]],
  ['what is not deflated', { results: [{ k: 'read', size: 3 }], raw: 3 }, [Buffer.from('xyz')]],
  ['an entry that is none', { results: [{ k: 'changed', e: ['f', 'x'] }] }, []],
])(
  'the laptop writes nothing and disconnects when the container answers a request with %s',
  async (_n, header, body) => {
    const sides = laptop()
    connectFakeAgent(sides, [['new', file(3)]], ({ type }, send) => {
      if (type === 'read') send('answer', header, body)
      if (type === 'apply') send('answer', { results: [{ k: 'done', e: file(3) }] })
    })
    await sides.clock.run(5_000)
    expect(sides.files('local')).toEqual(HERE)
    expect(sides.engine.status().state).toBe('disconnected')
    await sides.close()
  },
)

test.each<
  readonly [string, (id: unknown, send: (type: FrameType, header: object, body?: Uint8Array[]) => void) => void]
>([
  [
    'more than it has said',
    (_, send) => {
      for (let n = 0; n < 4; n++) send('part', {}, [Buffer.alloc(1 << 20)])
      send('answer', { k: 'sent', size: 4 << 20, mtime: 1, executable: 0, hash: 'x' })
    },
  ],
  [
    'another content than its hash',
    (_, send) => {
      for (let n = 0; n < 2; n++) send('part', {}, [Buffer.alloc(1 << 20)])
      send('answer', { k: 'sent', size: 2 << 20, mtime: 1, executable: 0, hash: 'x' })
    },
  ],
  [
    'a copy of what is not there',
    (_, send) => {
      send('part', { from: 0, length: 2 << 20 })
      send('answer', { k: 'sent', size: 2 << 20, mtime: 1, executable: 0, hash: 'x' })
    },
  ],
  ['no size', (_, send) => send('answer', { k: 'sent' })],
])('a large file that comes with %s is not written, and nothing of it remains', async (_name, answer) => {
  const sides = laptop()
  connectFakeAgent(sides, [['large', file(2 << 20)]], ({ type, header }, send) => {
    if (type === 'fetch') answer(header['id'], send)
    if (type === 'apply')
      send('answer', { results: (header['items'] as unknown[]).map(() => ({ k: 'done', e: file(3) })) })
  })
  await sides.clock.run(2_000)
  expect(sides.files('local')).toEqual(HERE)
  await sides.close()
})

test.each<readonly [string, FrameType, object]>([
  ['a request', 'apply', { id: 1, folder: '0', items: [] }],
  ['a greeting in the middle', 'hello', { protocol: 1, nonce: 'x' }],
  ['another folder', 'own', { folder: '../x', paths: [] }],
  ['own folders that are no list', 'own', { folder: '0', paths: 'x' }],
  ['unwatched folders that are no list', 'unwatched', { folder: '0', folders: 7, limit: 'x' }],
  ['a path that is no text', 'changed', { seq: 1, folder: '0', entries: [[7, null]] }],
  ['an entry that is no list', 'changed', { seq: 1, folder: '0', entries: [['x', { k: 'f' }]] }],
  ['a sequence that is none', 'changed', { seq: -1, folder: '0', entries: [] }],
  ['a number that is none', 'changed', { seq: 1, folder: '0', entries: [['x', ['f', 1, null, 0, 0, 0]]] }],
  ['an end of nothing', 'started', { resumed: false, own: 7, instance: 'x' }],
])('a container that sends %s is disconnected', async (_name, type, header) => {
  const sides = laptop()
  sides.startAgent()
  await sides.settle()
  const { attached } = sides
  sides.pair!.other.write(Buffer.concat(encodeFrame(type, header)))
  await sides.clock.run(100)
  expect((await attached!.ended).message).toBeTruthy()
  expect(sides.files('local')).toEqual(HERE)
  await sides.settle()
  expect(sides.files('remote')).toEqual(HERE)
  await sides.close()
})

test('answers and parts that were not requested are ignored', async () => {
  const sides = laptop()
  sides.startAgent()
  await sides.settle()
  for (const [type, header] of [
    ['answer', { id: 999, results: [{ k: 'done', e: null }] }],
    ['part', { id: 999 }],
  ] as const)
    sides.pair!.other.write(Buffer.concat(encodeFrame(type, header, [Buffer.from('x')])))
  await sides.clock.run(1_000)
  expect(sides.files('local')).toEqual(HERE)
  expect(sides.engine.status().state).toBe('synced')
  await sides.close()
})

test('the last message of the container is shown as one short line', async () => {
  const sides = laptop()
  sides.startAgent()
  await sides.settle()
  const { attached } = sides
  const message = `bad\u001b[2J\nrm -rf\u202e ${'x'.repeat(1_000)}`
  sides.pair!.other.write(Buffer.concat(encodeFrame('failed', { message })))
  await sides.clock.run(100)
  const told = (await attached!.ended).message
  expect(told).toMatch(/^the other side cannot go on: bad \[2J rm -rf {2}x+$/)
  expect(told.length).toBeLessThan(400)
  await sides.close()
})

// The following messages come from the laptop.

const OUTSIDE = ['../../secret', '/secret', '../1/x', 'a/../../../secret', '', 'x\0y']

/** Brings both sides in sync, with files next to the folder in the volume, and outside of the volume. */
async function synced(): Promise<TwoSides> {
  const sides = laptop()
  sides.container.folders('/volume/src/1')
  for (const place of ['/secret', '/volume/src/1/x', '/volume/secret']) sides.container.put(place, 'secret')
  sides.startAgent()
  await sides.settle()
  return sides
}

/** Sends a frame to the agent, and returns the agent's answer before the connection ends. */
async function answered(
  sides: TwoSides,
  frame: readonly [FrameType, object, (readonly Uint8Array[])?],
): Promise<string> {
  const seen: Buffer[] = []
  sides.pair!.one.on('data', (piece: Buffer) => seen.push(piece))
  sides.pair!.one.write(Buffer.concat(encodeFrame(...frame)))
  await sides.clock.run(2_000)
  return Buffer.concat(seen).toString('latin1')
}

/** A large file that is to be copied in the container. */
const COPY = { path: 'new', from: 'a', expect: null, size: 6, hash: 'x', mtime: 1, executable: 0, moved: null }

test.each(
  OUTSIDE.flatMap(path =>
    (
      [
        ['stat', { paths: [path] }],
        ['read', { items: [[path, ['f', 6, 1, 1, 1, 0]]] }],
        ['hash', { paths: [path] }],
        ['sums', { path }],
        ['fetch', { path, expect: ['f', 6, 1, 1, 1, 0] }],
        ['begin', { path, expect: null, delta: true }],
        ['copy', { ...COPY, path }],
        ['copy', { ...COPY, from: path }],
        ['copy', { ...COPY, from: path, moved: ['f', 6, 1, 1, 1, 0] }],
      ] as const
    ).map(([type, header]) => [type, path, header] as const),
  ),
)('a laptop that sends %s for %j is disconnected', async (type, _path, header) => {
  const sides = await synced()
  const { attached } = sides
  const before = sides.container.files('/')
  const answer = await answered(sides, [type, { id: 1_000, folder: '0', ...header }])
  expect(answer).not.toContain('"id":1000')
  expect(answer).not.toContain('secret"')
  expect((await attached!.ended).message).toMatch(/cannot go on: the path/)
  expect(sides.container.files('/')).toEqual(before)
  await sides.settle()
  expect(sides.engine.status().state).toBe('synced')
  await sides.close()
})

test.each(OUTSIDE)('a laptop that changes %j is refused, whatever the change is', async path => {
  const sides = await synced()
  const before = sides.container.files('/')
  const items = [
    ['file', path, null, 1, 1, 0],
    ['folder', path, null],
    ['link', path, null, 'x'],
    ['remove', path, null],
    ['meta', path, null, 1, 1],
    ['move', path, null, 'a', ['f', 6, 1, 1, 1, 0], 1, 0],
    ['move', 'new', null, path, ['f', 6, 1, 1, 1, 0], 1, 0],
  ]
  const answer = await answered(sides, ['apply', { id: 1_000, folder: '0', items }, [Buffer.from('x')]])
  expect(answer.match(/"k":"problem"/g)).toHaveLength(items.length)
  expect(sides.container.files('/')).toEqual(before)
  await sides.close()
})

test('a laptop writes and reads nothing through a link of the container', async () => {
  const sides = await synced()
  sides.container.makeLink('../../secret-folder', '/volume/src/0/out')
  sides.container.folders('/volume/secret-folder')
  sides.container.put('/volume/secret-folder/x', 'secret')
  await sides.clock.run(2_000)
  const items = [
    ['file', 'out/x', ['f', 6, 1, 1, 1, 0], 1, 1, 0],
    ['file', 'out/new', null, 1, 1, 0],
  ]
  const body = [Buffer.from('x'), Buffer.from('y')]
  const wrote = await answered(sides, ['apply', { id: 1_000, folder: '0', items }, body])
  expect(wrote.match(/"k":"changed"/g)).toHaveLength(2)
  const read = await answered(sides, ['read', { id: 1_001, folder: '0', items: [['out/x', ['f', 6, 1, 1, 1, 0]]] }])
  expect(read).not.toContain('secret"')
  expect(sides.container.files('/volume/secret-folder')).toEqual({ x: 'secret' })
  await sides.close()
})

test.for<readonly [string, FrameType, object, (readonly Uint8Array[])?]>([
  ['another folder', 'stat', { id: 1, folder: 'other', paths: [] }],
  ['no number', 'stat', { folder: '0', paths: [] }],
  ['items that are no list', 'apply', { id: 1, folder: '0', items: 7 }],
  ['contents that are not all there', 'apply', { id: 1, folder: '0', items: [['file', 'x', null, 5, 1, 0]] }],
  ['more contents than items', 'apply', { id: 1, folder: '0', items: [] }, [Buffer.from('x')]],
  ['a change of no kind', 'apply', { id: 1, folder: '0', items: [['chown', 'x', null]] }],
  ['a time that is none', 'apply', { id: 1, folder: '0', items: [['file', 'x', null, 0, 'now', 0]] }],
  ['more than a message may have', 'apply', { id: 1, folder: '0', items: [], raw: 1e9 }, [deflated]],
  ['more than it says when it is inflated', 'apply', { id: 1, folder: '0', items: [], raw: 3 }, [deflated]],
  ['a part of no file', 'part', { id: 77 }, [Buffer.from('x')]],
  ['the end of no file', 'finish', { id: 77, size: 0, hash: '' }],
  ['a message of the agent', 'changed', { id: 1, seq: 1, folder: '0', entries: [] }],
  ['a second greeting', 'auth', { nonce: 'x', proof: 'x' }],
  ['folders that are none', 'start', { client: 'x', seen: 0, rescan: 0, folders: [7] }],
  ['a folder that is not there', 'start', { client: 'x', seen: 0, rescan: 0, folders: [{ name: 'etc', ignores: {} }] }],
  [
    'rules that are none',
    'start',
    { client: 'x', seen: 0, rescan: 0, folders: [{ name: '0', ignores: { rules: 7 } }] },
  ],
])(
  'a laptop that sends %s is disconnected with a message, and the next one is served',
  async ([_name, type, header, body]) => {
    const sides = await synced()
    const { attached } = sides
    const before = sides.container.files('/')
    await answered(sides, [type, header, body ?? []])
    expect((await attached!.ended).message).toMatch(/^the other side cannot go on: ./)
    expect(sides.container.files('/')).toEqual(before)
    await sides.settle()
    expect(sides.files('remote')).toEqual(HERE)
    await sides.close()
  },
)

test.each<readonly [string, readonly (readonly [FrameType, object, Uint8Array[]?])[]]>([
  [
    'has another hash',
    [
      ['part', {}, [Buffer.from('xyz')]],
      ['finish', { size: 3, hash: 'x', mtime: 1 }],
    ],
  ],
  [
    'is copied from nothing',
    [
      ['part', { from: 0, length: 3 }],
      ['finish', { size: 3, hash: 'x', mtime: 1 }],
    ],
  ],
  [
    'is copied from behind the end',
    [
      ['part', { from: 1e9, length: 3 }],
      ['finish', { size: 3, hash: 'x', mtime: 1 }],
    ],
  ],
])('a file that %s is not written, and nothing of it remains', async (_name, frames) => {
  const sides = await synced()
  const begin: readonly [FrameType, object] = [
    'begin',
    { id: 1_000, folder: '0', path: 'a', expect: null, delta: true },
  ]
  await answered(sides, begin)
  let answer = ''
  for (const [type, header, body] of frames)
    answer += await answered(sides, [type, { id: 1_000, ...header }, body ?? []])
  expect(answer).toContain('"k":"problem"')
  expect(sides.files('remote')).toEqual(HERE)
  expect(sides.container.list('/volume/.devctl/stage')).toEqual([])
  await sides.close()
})

test('an endless greeting is cut off, and so are too many connections at once', async () => {
  const sides = await synced()
  const { Pair } = await import('../../support/sync/pair.ts')
  const pairs = Array.from({ length: 30 }, () => new Pair(sides.clock))
  for (const pair of pairs) sides.server.connect(pair.other)
  pairs[0]!.one.write(Buffer.alloc(10_000, 1))
  await sides.clock.run(100)
  expect(pairs.filter(({ other }) => other.destroyed)).toHaveLength(30 - 16 + 1)
  await sides.clock.run(11_000)
  expect(pairs.every(({ other }) => other.destroyed)).toBe(true)
  await sides.settle()
  await sides.close()
})
