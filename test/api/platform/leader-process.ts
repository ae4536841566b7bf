import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from '../../../adapters/kubernetes/kube-cluster.ts'
import type { ServerContext } from '../../../platform/server/context.ts'
import { lead } from '../../../platform/server/leader/leader.ts'

// A replica for leader.test.ts: prints when it works, every few milliseconds.

const end = new AbortController()
process.once('SIGTERM', () => end.abort())
const world: Partial<ServerContext> = {
  cluster: await connect({ env: process.env }),
  now: Date.now,
  random: randomBytes,
  log: ({ text }) => void process.stderr.write(`${text}\n`),
}
const tick = {
  name: 'tick',
  everyMs: 10,
  run: async () => void process.stdout.write(`${Date.now()}\n`),
}
const failing = {
  name: 'failing',
  everyMs: 10,
  async run() {
    await sleep(1)
    throw new Error('it never works')
  },
}
await lead(world as ServerContext, [failing, tick], end.signal) // what leading uses of it
