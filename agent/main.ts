import { existsSync, readFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ListenPlace } from '../adapters/ssh/key-server.ts'
import { serveSync } from '../sync/serve.ts'
import { becomeUser } from './become-user.ts'
import { type AgentConfig, readConfig } from './config.ts'
import { listenPlace } from './listen-place.ts'
import { renewImage } from './renew-image.ts'
import { startSshServer } from './ssh-server.ts'

/** Milliseconds between two looks for the files of the image; nobody is answered before. */
const FILL_LOOK = 20

/** Runs the agent with the configuration in a file. Failures end it; the kubelet starts it again. */
export async function runAgent(file: string): Promise<void> {
  const config = readConfig(readFileSync(file, 'utf8'))
  // As the first process of a container, nothing ends it by default.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => process.exit(0))
  becomeUser(config)
  while (config.filled !== undefined && !existsSync(config.filled)) await sleep(FILL_LOOK)
  for (const folder of config.folders) if (folder.file === undefined) renewImage(config.volume, folder)
  listen(listenPlace(config.sockets?.sync, config.syncPort), startSync(config))
  void startSshServer({ ...config, shared: join(dirname(config.ready), 'shared') })
}

function startSync(config: AgentConfig): (socket: Socket) => void {
  const { volume, folders, ready, write } = config
  const server = serveSync({ key: Buffer.from(config.key, 'hex'), volume, folders, ready, write })
  return socket => server.connect(socket)
}

function listen(place: ListenPlace, connect: (socket: Socket) => void): void {
  const server = createServer(socket => {
    socket.setNoDelay(true)
    connect(socket)
  })
  server.on('error', error => {
    throw error
  })
  server.listen({ ...place, readableAll: true, writableAll: true })
}

void runAgent(process.argv[2] ?? '/devctl/code/session.json')
