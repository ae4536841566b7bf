// `npm run bench -- platform-tunnel`: how fast the files of a build go through the platform to the BuildKit of
// BUILDKIT_HOST, beside the same build without it. The platform's end of the connection runs in a process of its own,
// as it does on a cluster. Each number is the median of three runs.
import { fork } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, mkdirSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { median } from './measure.mjs'
import { work } from './program.mjs'

const address = process.env.BUILDKIT_HOST
const RUNS = Number(process.env.RUNS ?? 3)
const MB = 1_000_000
const SIZE = 400
const GOAL = 60
const image = process.env.BENCH_IMAGE ?? 'busybox:1.37'
const dist = path => import(`../dist/${path}`)

if (process.argv.includes('--serve')) await serve()
else if (!address) console.log('The tunnel is left out: BUILDKIT_HOST names no BuildKit.')
else await measureTunnel()

async function serve() {
  const { serveBuilds } = await dist('platform/server/builds/build-tunnel.js')
  const { makePools } = await dist('platform/server/builds/builder-pool.js')
  const pool = makePools({ default: [address], untrusted: [], atOnce: 4 }).default
  const scope = { namespace: 'bench', cache: randomUUID() }
  const server = createServer(socket => {
    socket.setNoDelay(true)
    serveBuilds(socket, { user: 'bench', scope, pool, key: randomBytes(32), check: async () => {} })
  })
  server.listen(0, '127.0.0.1', () => process.send(server.address().port))
  process.once('disconnect', () => process.exit())
}

async function measureTunnel() {
  const { connectToBuilder, connectOver } = await dist('adapters/buildkit/connect.js')
  const { PLAIN_BUILD } = await dist('compiler/values/images/build-spec.js')
  const child = fork(import.meta.filename, ['--serve'])
  const [port] = await once(child, 'message')
  const folder = join(work, 'tunnel')
  const signal = new AbortController().signal
  const open = async () => {
    const socket = connect(port, '127.0.0.1')
    await once(socket.setNoDelay(true), 'connect')
    return socket
  }
  const ways = {
    'without the platform': () => connectToBuilder(address, { signal }),
    'through the platform': () => connectOver({ name: 'the platform', open, isFinal: () => true }, { signal }),
  }
  try {
    mkdirSync(folder, { recursive: true })
    writeFileSync(
      join(folder, 'Dockerfile'),
      `FROM ${image}\nRUN --mount=type=bind,target=/src wc -c < /src/file > /size\n`,
    )
    const speeds = Object.fromEntries(Object.keys(ways).map(way => [way, []]))
    for (let run = 0; run < RUNS; run++)
      for (const [way, connectBy] of Object.entries(ways)) {
        writeRandom(join(folder, 'file'))
        const builder = await connectBy()
        const began = performance.now()
        const input = {
          ...PLAIN_BUILD,
          contexts: new Map(),
          context: { folder },
          dockerfile: { path: join(folder, 'Dockerfile') },
          output: { kind: 'discard' },
        }
        await builder.build(input, { signal, onStatus: () => {}, credentials: async () => undefined })
        speeds[way].push(SIZE / ((performance.now() - began) / 1000))
        builder.close()
      }
    console.log(`\n| ${SIZE} MB of files | MB/s |\n|---|---|`)
    for (const [way, all] of Object.entries(speeds)) console.log(`| ${way} | ${median(all).toFixed(0)} |`)
    const reached = median(speeds['through the platform'])
    console.log(`\nThe goal is ${GOAL} MB/s through the platform: ${reached >= GOAL ? 'reached' : 'missed'}.`)
  } finally {
    child.disconnect()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Contents that no builder has. */
function writeRandom(path) {
  const file = openSync(path, 'w')
  const block = randomBytes(MB)
  for (let one = 0; one < SIZE; one++) {
    block.writeUInt32BE(one)
    writeSync(file, block)
  }
  closeSync(file)
}
