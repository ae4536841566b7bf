import { once } from 'node:events'
import { expect, test } from 'vitest'
import { publishing } from '../../../../cli/run/gitops/publish.ts'
import type { PublishEvent } from '../../../../gitops/publish/events.ts'
import type { LocalContext } from '../../../../project/session.ts'

const output = { isTTY: false, write: () => {} }
const io = { stdout: output, stderr: output, readStdin: async () => new Uint8Array(), env: {}, cwd: '/' }
const context = { io, logLevel: 'warn', commands: [], help: () => undefined } as const

test('publish reports at its deadline how often others have pushed', async () => {
  const lose = async ({ on, signal }: LocalContext<PublishEvent>): Promise<never> => {
    for (const because of ['race', 'broken', 'race'] as const) on({ type: 'push-failed', because })
    if (!signal.aborted) await once(signal, 'abort')
    throw signal.reason
  }
  await expect(publishing(context, { timeout: 1, verify: false, output: 'text' }, lose)).rejects.toMatchObject({
    message: 'not done within 0.0 s',
    notes: ['others pushed 2 times in the meantime'],
  })
})
