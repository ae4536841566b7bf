import { chownSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ListenPlace } from '../adapters/ssh/key-server.ts'
import { type SyncServer, serveSync } from '../sync/serve/serve.ts'
import { type AgentConfig, readConfig } from './config.ts'
import { listenPlace } from './listen-place.ts'
import { renewImage } from './renew-image.ts'
import { startSshServer } from './ssh-server.ts'

/** Polling interval for the files of the image, in milliseconds. The agent answers no client before they exist. */
const FILL_LOOK = 20
/** Delay before the SSH server is started again if its port is in use, in milliseconds. */
const SSH_AGAIN = 2_000
/** Time in milliseconds that the agent keeps running before it exits, so that the laptop receives the reason. */
const LAST_WORDS = 200

/**
 * Runs the agent with the configuration in a file. Reports problems with the volume to the laptop and retries. A bug
 * ends the agent, and the kubelet then restarts the container.
 */
export async function runAgent(file: string): Promise<void> {
  const config = readConfig(readFileSync(file, 'utf8'))
  // The first process of a container ignores signals by default.
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

/**
 * Drops root privileges: files are written as the user of the development container, and no other permissions are
 * needed.
 */
function becomeUser(config: AgentConfig): void {
  if (config.umask !== undefined) process.umask(config.umask)
  if (process.getuid?.() !== 0) return
  const user = config.user ?? userOfImage(join(dirname(config.ready), 'user'))
  if (!user || user.uid === 0) return
  for (const folder of ['.', '.devctl', ...config.folders.map(({ path }) => path)]) {
    const path = join(config.volume, folder)
    try {
      mkdirSync(path, { recursive: true })
      chownSync(path, user.uid, user.gid)
    } catch {
      // The volume may already belong to the user. Missing permissions are detected when it is used.
    }
  }
  process.setgroups!([user.gid])
  process.setgid!(user.gid)
  process.setuid!(user.uid)
}

/**
 * Reads the user of the image, which `id` printed as `1000:1000`. Returns undefined if the file does not exist or does
 * not match.
 */
function userOfImage(file: string): AgentConfig['user'] {
  if (!existsSync(file)) return undefined
  const [, uid, gid] = /^(\d+):(\d+)\s*$/.exec(readFileSync(file, 'utf8')) ?? []
  return uid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) }
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
    // An error of one connection must not end the other connections.
    if (!server.listening) throw error
  })
  server.listen({ ...place, readableAll: true, writableAll: true })
}

/**
 * Starts the SSH server, and retries after errors because another program in the Pod may hold the port for a while.
 * Without the SSH server, only forwards do not work.
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
    // The server retries as soon as it can report the error.
  }
}

void runAgent(process.argv[2] ?? '/devctl/code/session.json')
