import { expect, test } from 'vitest'
import { UserError } from '../../../../compiler/diagnostics/user-error.ts'
import type { RunningNamespace } from '../../../../platform/api/environments.ts'
import type { Preview } from '../../../../platform/api/previews.ts'
import { PlatformRefusal } from '../../../../platform/client/client.ts'
import { ASKED_TOGETHER } from '../../../../platform/rules/asked-together.ts'
import type { Platform } from '../../../../platform/session/connect-platform.ts'
import { standingsOf } from '../../../../platform/session/preview-standings.ts'

const preview = (name: string, status: Preview['status'] = 'Active', role: Preview['role'] = 'owner') =>
  ({ name, status, ...(role && { role }) }) as Preview // The function reads only these fields.
const environment = (state: string, more: object = {}) => ({
  name: 'shop',
  state,
  services: 2,
  ready: state === 'ready' ? 2 : 0,
  endpoints: [],
  ...more,
})

const none = new AbortController().signal

async function standings(
  previews: readonly Preview[],
  contents: Readonly<Record<string, Partial<RunningNamespace>>> | UserError,
) {
  const asked: string[] = []
  const platform = {
    async call(_: string, { query }: { readonly query: { readonly namespaces: string } }) {
      asked.push(query.namespaces)
      if (contents instanceof UserError) throw contents
      const items = query.namespaces
        .split(',')
        .flatMap(namespace =>
          contents[namespace]
            ? [{ namespace, environments: [], failedDeploys: [], deploys: [], ...contents[namespace] }]
            : [],
        )
      return { items }
    },
  } as unknown as Platform
  const found = await standingsOf(platform, previews, none)
  return { asked, found: [...found].map(([name, { state, text }]) => [name, state, text]) }
}

test('previews show the state of their content, or their status without it', async () => {
  const failed = { run: 'r', environment: 'shop', at: '2026-01-01T00:00:00Z' }
  const problem = { service: 'web', reason: 'its image cannot be pulled: not found' }
  const waits = { service: 'db', reason: 'pulls its image' }
  const { asked, found } = await standings(
    [
      preview('good'),
      preview('broken'),
      preview('slow'),
      preview('old', 'Failed'),
      preview('never', 'Failed'),
      preview('busy', 'Deploying'),
      preview('unread'),
      preview('nap', 'Sleeping'),
      { ...preview('foreign'), role: undefined } as unknown as Preview,
    ],
    {
      good: { environments: [environment('ready')] },
      broken: { environments: [environment('failed', { problem })] },
      slow: { environments: [environment('waiting', { waits })] },
      old: { environments: [environment('ready')], failedDeploys: [failed] },
      never: { failedDeploys: [failed] },
      busy: { deploys: [{ run: 'r', environment: 'shop' }] },
    },
  )
  expect(asked).toEqual(['good,broken,slow,old,never,busy,unread'])
  expect(found).toEqual([
    ['good', 'ready', '2 services ready'],
    ['broken', 'failed', 'Problem in shop: web: its image cannot be pulled: not found'],
    ['slow', 'waiting', 'Starting: db: pulls its image'],
    ['old', 'failed', 'Deploy of shop failed, previous version runs'],
    ['never', 'failed', 'Deploy of shop failed'],
    ['busy', 'deploying', 'Deploying shop'],
    ['unread', undefined, 'Active'],
    ['nap', undefined, 'Asleep'],
    ['foreign', undefined, 'Active'],
  ])
})

test('many previews are requested in groups, and after a refusal no more are requested', async () => {
  const many = Array.from({ length: ASKED_TOGETHER + 1 }, (_, index) => preview(`p${index}`))
  expect((await standings(many, {})).asked.map(names => names.split(',').length)).toEqual([ASKED_TOGETHER, 1])
  const refusal = new PlatformRefusal(403, { code: 'platform/not-allowed', message: 'no' })
  const refused = await standings(many, new UserError('no', { cause: refusal }))
  expect(refused.asked).toHaveLength(1)
  expect(refused.found[0]).toEqual(['p0', undefined, 'Active'])
  const broken = new UserError('the platform does not answer', { cause: new Error('ECONNREFUSED') })
  await expect(standings(many, broken)).rejects.toThrow('does not answer')
})
