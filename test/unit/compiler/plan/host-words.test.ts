import { expect, test } from 'vitest'
import { hostsIn, type TextKind } from '../../../../compiler/plan/secrets/host-words.ts'

const wordsIn = (kind: TextKind, text: string) =>
  [...hostsIn(text, kind, word => word === 'db')].map(({ port, isHost }) => (isHost ? (port ?? 'host') : 'word'))

test.each<[kind: TextKind, text: string, found: readonly (number | string)[]]>([
  ['command', 'serve db:8080', [8080]],
  ['command', 'curl -fsS http://db/health', [80]],
  ['command', 'curl -f db/health', ['host']],
  ['command', 'nc -z -w 2 db 5432', [5432]],
  ['command', 'until nc -z db 5432; do sleep 1; done', [5432]],
  ['command', 'echo > /dev/tcp/db/5432', [5432]],
  ['command', 'pg_isready -h db -p 5433 -U db', [5433, 'word']],
  ['command', 'sleep -p 1000\npg_isready -h db -p 5433\nserve -p 8000', [5433]],
  ['command', 'mysqladmin ping -h db -u root', ['host']],
  ['command', 'wait --db-host=db --db-port=5434', [5434]],
  ['command', 'cockroach start --advertise-addr=db --join=db', ['host', 'host']],
  ['command', 'pg_isready -U db -d db', ['word', 'word']],
  ['command', 'cat /db/x ./db $db db=1 x.db', []],
  ['command', 'redis:7 db:7', ['word']],
  ['variable', 'postgres://user:password@db/app', [5432]],
  ['variable', 'jdbc:postgresql://db/app', [5432]],
  ['variable', 'mongodb+srv://db/app', ['host']],
  ['variable', 'mongodb://other:27018,db:27019/app', [27019]],
  ['variable', 'user@db', ['host']],
  ['variable', 'postgres://db:secret@other/db', []],
  ['variable', 'postgres://db@other', []],
  ['variable', 'a db', ['word']],
  ['file', 'host: db\n', ['host']],
  ['file', '"host": "db",\n  "user": "x",\n  "port": 5435\n', [5435]],
  ['file', 'port = 5436\nhost = db\n', [5436]],
  ['file', 'host = db\n\n\n\n\nport = 5436\n', ['host']],
  ['file', 'upstream x { server db; }', ['host']],
  ['file', 'brokers: [db]', ['host']],
  ['file', 'the db of the shop', ['word']],
])('hostsIn finds the hosts and words of a %s: %s', (kind, text, found) => expect(wordsIn(kind, text)).toEqual(found))

test('members of a cluster are found by their numbers in braces', () => {
  const names = new Set(['m1', 'm2', 'm03', 'm04'])
  const of = (text: string) =>
    [...hostsIn(text, 'command', word => names.has(word))].map(({ host, written }) => [host, written])
  expect(of('server http://m{1...4}/data{1...2}')).toEqual([
    ['m1', 'm{1...4}'],
    ['m2', 'm{1...4}'],
  ])
  expect(of('http://m{03...04}:9000')).toEqual([
    ['m03', 'm{03...04}'],
    ['m04', 'm{03...04}'],
  ])
  expect(of('m{1..4} m{9...1}')).toEqual([])
})

test('a text of many options is read before the timeout', () => {
  const text = `${' --a-host-b'.repeat(20_000)} db${' nc -a -b'.repeat(20_000)} db`
  expect(wordsIn('command', text)).toEqual(['word', 'host'])
})
