import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { main } from '../../../../cli/main.ts'
import { untilOutputCloses } from '../../../../cli/run/until-output-closes.ts'
import type { Session } from '../../../../project/session.ts'
import { makeFolder } from '../../../support/cli/folder.ts'
import { fakeServer, type Handler } from '../../../support/kubernetes/fake-server.ts'

const broken = Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })

describe('a command that prints until Ctrl-C', () => {
  const sessionWith = (signal: AbortSignal) => ({ signal }) as Session // the work uses nothing else
  const waiting = ({ signal }: Session) => sleep(60_000, 0, { signal })

  test('a command ends with status 0 when the reader closes the output', async () => {
    const work = async (own: Session, closed: (reason: unknown) => void) => {
      setImmediate(() => closed(broken))
      return waiting(own)
    }
    expect(await untilOutputCloses(sessionWith(new AbortController().signal), work)).toBe(0)
  })

  test('an interruption and other errors are passed on', async () => {
    const interruption = new AbortController()
    setImmediate(() => interruption.abort())
    await expect(untilOutputCloses(sessionWith(interruption.signal), waiting)).rejects.toThrow('aborted')
    const failing = untilOutputCloses(sessionWith(new AbortController().signal), async () => {
      throw new Error('mine')
    })
    await expect(failing).rejects.toThrow('mine')
  })
})

const metadata = (name: string) => ({
  name,
  namespace: 'shop',
  uid: name,
  resourceVersion: name.replace(/\D/g, '') || '1',
})
const event = (number: number) => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: metadata(`e${number}`),
  type: 'Normal',
  reason: 'Scaled',
  message: `change ${number}`,
  lastTimestamp: '2027-01-15T08:00:00Z',
  involvedObject: { kind: 'Deployment', name: 'web' },
})
const deployment = {
  metadata: { ...metadata('web'), labels: { 'dev.platform/environment': 'shop', 'dev.platform/service': 'web' } },
  spec: { selector: { matchLabels: {} }, template: { spec: { containers: [] } } },
}

/** Answers as a cluster with a Deployment, about which there is always another event. */
const answer: Handler = ({ path, query }, response) => {
  const list = (items: readonly object[]) => ({ kind: 'List', metadata: { resourceVersion: '1' }, items })
  if (query.has('watch')) {
    response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders()
    let number = 1
    const line = () => response.write(`${JSON.stringify({ type: 'ADDED', object: event(number++) })}\n`)
    const timer = setInterval(line, 20)
    response.on('close', () => clearInterval(timer))
    return undefined
  }
  if (path.endsWith('/events')) return list([event(0)])
  if (path.endsWith('/deployments')) return list([deployment])
  return list([])
}

test.each([[[]], [['--output', 'json']]])(
  'events --follow %j ends when the reader closes the output',
  async options => {
    const { access, close } = await fakeServer(answer)
    onTestFinished(close)
    const kubeconfig = {
      'current-context': 'fake',
      contexts: [{ name: 'fake', context: { cluster: 'fake', user: 'fake', namespace: 'shop' } }],
      clusters: [{ name: 'fake', cluster: { server: access.server } }],
      users: [{ name: 'fake', user: {} }],
    }
    const cwd = makeFolder({ config: JSON.stringify(kubeconfig), 'compose.yaml': 'services: {web: {image: x}}\n' })
    let written = ''
    let errors = ''
    const stdout = {
      isTTY: false,
      write: (text: string) => {
        written += text
      },
      flushed: async () => {
        if (written.split('\n').length > 3) throw broken
      },
    }
    const status = await main(['events', '--follow', '--name', 'shop', ...options], {
      stdout,
      stderr: {
        isTTY: false,
        write: text => {
          errors += text
        },
      },
      readStdin: async () => new Uint8Array(),
      env: { KUBECONFIG: join(cwd, 'config'), DEVCTL_HOME: join(cwd, 'home') },
      cwd,
    })
    expect({ status, errors }).toEqual({ status: 0, errors: '' })
    expect(written).toContain('change 2')
  },
)
