import { expect, test } from 'vitest'
import type { BodyOf } from '../../../../../platform/api/routes.ts'
import type { TokenKind } from '../../../../../platform/rules/accounts/token.ts'
import { memoryPlatform } from '../../../../support/platform/memory-platform.ts'

const code: BodyOf<'POST /auth/cli/code'> = { challenge: 'c'.repeat(43), label: 'laptop' }
const guess = { code: 'BCDF-GHJK' }

test.each<readonly [TokenKind, object]>([
  ['run', { namespaces: ['shop'], trust: 'fork' }],
  ['api', {}],
])('requests that a token of the kind %s may not send do not count for its owner', async (kind, more) => {
  const { person, tokenOf, call } = memoryPlatform()
  const ann = await person('ann')
  const [own, other] = [await tokenOf(ann, 'cli'), await tokenOf(ann, kind, more)]
  for (let count = 0; count < 21; count++)
    expect((await call('POST /auth/device/look', { token: other, body: guess })).status).toBe(403)
  expect((await call('POST /auth/device/look', { token: own, body: guess })).status).toBe(404)
})

test('the requests of a command line count for its owner', async () => {
  const { person, tokenOf, call } = memoryPlatform()
  const token = await tokenOf(await person('ann'), 'cli')
  const statuses: number[] = []
  for (let count = 0; count < 62; count++)
    statuses.push((await call('POST /auth/cli/code', { token, body: code })).status)
  expect(statuses.lastIndexOf(200)).toBe(59)
  expect(statuses.indexOf(429)).toBe(60)
})
