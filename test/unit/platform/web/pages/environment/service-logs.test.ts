import { h } from 'preact'
import { expect, test } from 'vitest'
import { ServiceLogs } from '../../../../../../platform/web/pages/environment/service-logs.tsx'
import { openPage, openStream } from '../../stub-page.ts'

const NONE = { type: 'note', text: 'it has no container yet' }
const CROWDED = { type: 'note', text: 'there are more containers than can be read at the same time' }
const endOf = (source: string) => ({ type: 'note', service: 'web', source, text: 'ended with exit code 1' })
const LINE = { type: 'line', service: 'web', source: 'web-0', time: '2026-01-01T00:00:00Z', text: 'hello' }

test.each([
  ['no container', [[NONE], [NONE], [NONE]], ['it has no container yet']],
  ['more containers than can be read', [[CROWDED, LINE], [CROWDED]], ['there are more containers', 'hello']],
  ['the end of a container', [[LINE, endOf('web-0')], [endOf('web-0')]], ['hello', 'ended with exit code 1']],
  [
    'the ends of two containers',
    [[endOf('web-0')], [endOf('web-1')]],
    ['ended with exit code 1', 'ended with exit code 1'],
  ],
  [
    'two ends of a container in one stream',
    [[endOf('a'), endOf('a')]],
    ['ended with exit code 1', 'ended with exit code 1'],
  ],
])('a stream that is opened again repeats no notes: %s', async (_, streams, expected) => {
  let opened = 0
  const page = openPage((_, init) => openStream(streams[opened++] ?? [], init))
  page.show(h(ServiceLogs, { namespace: 'team', environment: 'shop', service: 'web' }))
  await page.pass(500)
  for (const _ of streams.slice(1)) {
    await page.lookAway()
    await page.pass(500)
  }
  expect(opened).toBe(streams.length)
  const pattern = /it has no container yet|there are more containers|hello|ended with exit code 1/g
  expect(page.root.text.match(pattern)).toEqual(expected)
})
