import { existsSync, readFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ListenPlace } from '../adapters/ssh/key-server.ts'
import { type SyncServer, serveSync } from '../sync/serve/serve.ts'
import { becomeUser } from './become-user.ts'
import { type AgentConfig, readConfig } from './config.ts'
import { listenPlace } from './listen-place.ts'
import { renewImage } from './renew-image.ts'
import { startSshServer } from './ssh-server.ts'

/** Milliseconds between two checks for the files of the image; the agent answers no client before they exist. */
const FILL_LOOK = 20
/** Milliseconds before the SSH server is started again if its port is in use. */
const SSH_AGAIN = 2_000
/** Milliseconds for the laptop to receive the reason why the agent ends. */
const LAST_WORDS = 200

/**
 * Runs the agent with the configuration in a file. Problems with the volume are reported to the laptop and retried;
 * bugs of the agent end it, and the kubelet restarts it.
 */
export async function runAgent(file: string): Promise<void> {
  const config = readConfig(readFileSync(file, 'utf8'))
  // By default, signals do not end the first process of a container.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => process.exit(0))
  // An error here must not end the agent before it can report the reason.
  tried(() => becomeUser(config))
  while (config.filled !== undefined && !existsSync(config.filled)) await sleep(FILL_LOOK)
  const server = startSync(config)
  process.on('uncaughtException', error => {
    process.stderr.write(`${error.stack ?? error}\n`)
    server.fail(error)
    setTimeout(() => process.exit(1), LAST_WORDS)
  })
  listen(listenPlace(config.sockets?.sync, config.syncPort), socket => server.connect(socket))
  await startSsh(config)
}

function startSync(config: AgentConfig): SyncServer {
  const { volume, folders, ready, write } = config
  const prepare = () => {
    becomeUser(config)
    for (const folder of folders) if (folder.file === undefined) renewImage(volume, folder)
  }
  return serveSync({ key: Buffer.from(config.key, 'hex'), volume, folders, ready, write, prepare })
}

function listen(place: ListenPlace, connect: (socket: Socket) => void): void {
  const server = createServer(socket => {
    socket.setNoDelay(true)
    connect(socket)
  })
  server.on('error', error => {
    // A failed connection does not end the others.
    if (!server.listening) throw error
  })
  server.listen({ ...place, readableAll: true, writableAll: true })
}

/**
 * Starts the SSH server and retries after errors: without it, only forwards are missing, and a program of the Pod may
 * hold its port for a while.
 */
async function startSsh(config: AgentConfig): Promise<void> {
  for (let isTold = false; ; isTold = true)
    try {
      await startSshServer({ ...config, shared: join(dirname(config.ready), 'shared') })
      return
    } catch (error) {
      if (!isTold) process.stderr.write(`no forwards: ${(error as Error).message}\n`)
      await sleep(SSH_AGAIN)
    }
}

function tried(work: () => void): void {
  try {
    work()
  } catch {
    // The server tries again when it can report the error.
  }
}

void runAgent(process.argv[2] ?? '/devctl/code/session.json')
