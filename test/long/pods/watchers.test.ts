import { execFile } from 'node:child_process'
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type DevelopmentPlace, openDevelopment } from '../../pods/develop/development.ts'
import { PENDING, RUNNING } from '../../pods/develop/no-node.ts'
import { findBuildkit } from '../../support/buildkit/buildkit.ts'
import { REGISTRY } from '../../support/buildkit/slow-project.ts'
import { write } from '../../support/cli/folder.ts'
import { eventually, findCluster } from '../../support/cluster/cluster.ts'
import type { Program } from '../../support/cluster/program.ts'
import { freePort } from '../../support/develop/free-port.ts'
import { TAKES_ALL } from '../../support/takes-all.ts'

// Programs in real Pods watch files: each save on this machine must reach them, however the file was written.

const builder = findBuildkit()
const cluster = builder === undefined ? undefined : findCluster()

/** Number of saves for each program: at least one writes into the file, and one replaces it with another file. */
const SAVES = TAKES_ALL ? 6 : 2
/** Seconds within which a program must notice a save. */
const SEEN = 45
/**
 * Milliseconds between two saves: some programs start watching only a moment after they have started, as they do
 * without devctl.
 */
const PAUSE = 2000

const COMPOSE = `name: watched
services:
  node:
    image: node:22-slim
    command: ["sleep", "3600"]
    stop_grace_period: 1s
    ${PENDING}
  python:
    build: .
    command: ["sleep", "3600"]
    stop_grace_period: 1s
    ${PENDING}
`
/** Image with Debian packages only, so that no other package registry is needed. */
const DOCKERFILE = `FROM debian:bookworm-slim
RUN apt-get update && apt-get install --yes --no-install-recommends python3-flask uvicorn entr
`
const manifest = (ports: Readonly<Record<string, number>>) => `deploy: {compose: compose.yaml}
dev:
  node:
    workdir: /app
    sync: ["./node:/app"]
    ${RUNNING}
    environment: {VITE_PORT: "${ports['vite']}"}
    forward: ["${ports['vite']}:${ports['vite']}"]
  python:
    workdir: /app
    sync: ["./python:/app"]
    ${RUNNING}
    environment: {PYTHONDONTWRITEBYTECODE: "1"}
    forward: ["${ports['flask']}:${ports['flask']}", "${ports['uvicorn']}:${ports['uvicorn']}"]
`

/** Polls twice a second for changed files, as `cargo watch --poll` does. */
const POLLER = `let last = ''
const { statSync, readFileSync } = require('fs')
setInterval(() => {
  const { mtimeMs, size, ino } = statSync('polled.txt')
  const now = [mtimeMs, size, ino].join()
  if (now !== last) console.log(readFileSync('polled.txt', 'utf8'))
  last = now
}, 500)
`

/** A program that watches a file, and shows that it has seen a save. */
interface Watcher {
  readonly name: string
  readonly dev: 'node' | 'python'
  readonly command: readonly string[]
  /** The file that the test saves. */
  readonly file: string
  /** Returns its text with a mark. */
  readonly text: (mark: string) => string
  /** Address of the page with the mark; undefined if the program prints it. */
  readonly page?: string
}

const flask = (mark: string) => `from flask import Flask
app = Flask(__name__)
@app.get('/')
def index():
    return '${mark}'
`
const uvicorn = (mark: string) => `async def app(scope, receive, send):
    await send({'type': 'http.response.start', 'status': 200, 'headers': []})
    await send({'type': 'http.response.body', 'body': b'${mark}'})
`
const prints = (mark: string) => `console.log('${mark}'); setInterval(() => {}, 1000)\n`

const watchers = (port: Readonly<Record<string, number>>): readonly Watcher[] => [
  { name: 'node --watch', dev: 'node', command: ['node', '--watch', 'watched.js'], file: 'watched.js', text: prints },
  {
    name: 'nodemon',
    dev: 'node',
    command: ['node_modules/.bin/nodemon', 'monitored.js'],
    file: 'monitored.js',
    text: prints,
  },
  {
    name: 'vite',
    dev: 'node',
    command: ['node_modules/.bin/vite', '--host', '127.0.0.1', '--port', `${port['vite']}`, '--strictPort', 'page'],
    file: 'page/main.js',
    text: mark => `document.title = '${mark}'\n`,
    page: `http://127.0.0.1:${port['vite']}/main.js`,
  },
  {
    name: 'tsc --watch',
    dev: 'node',
    command: ['node_modules/.bin/tsc', '--watch', '--preserveWatchOutput', '--noEmit', 'typed.ts'],
    file: 'typed.ts',
    // The error message contains the type.
    text: mark => `export const typed: '${mark}' = 0\n`,
  },
  { name: 'a poller', dev: 'node', command: ['node', 'poller.js'], file: 'polled.txt', text: mark => `${mark}\n` },
  {
    name: 'flask --reload',
    dev: 'python',
    command: ['flask', '--app', 'site_app', 'run', '--reload', '--port', `${port['flask']}`],
    file: 'site_app.py',
    text: flask,
    page: `http://127.0.0.1:${port['flask']}/`,
  },
  {
    name: 'uvicorn --reload',
    dev: 'python',
    command: ['uvicorn', '--reload', '--port', `${port['uvicorn']}`, 'asgi_app:app'],
    file: 'asgi_app.py',
    text: uvicorn,
    page: `http://127.0.0.1:${port['uvicorn']}/`,
  },
  {
    name: 'entr',
    dev: 'python',
    command: ['sh', '-c', 'echo entered.txt | entr -n cat entered.txt'],
    file: 'entered.txt',
    text: mark => `${mark}\n`,
  },
]

/** Tries one program that is notified and one that polls, which need no installation; `npm run test:long` tries all. */
const QUICK = ['node --watch', 'a poller']

const PORTS = { vite: await freePort(), flask: await freePort(), uvicorn: await freePort() }

describe.skipIf(cluster === undefined)('programs that watch files', () => {
  let place: DevelopmentPlace

  beforeAll(async () => {
    place = await openDevelopment(cluster!, 'watchers', { BUILDKIT_HOST: builder! })
    const first = watchers(PORTS).map(({ dev, file, text }) => [`${dev}/${file}`, text('first')])
    write(place.folder, {
      'compose.yaml': COMPOSE,
      'devctl.yml': manifest(PORTS),
      Dockerfile: DOCKERFILE,
      'node/poller.js': POLLER,
      'node/page/index.html': '<script type="module" src="/main.js"></script>\n',
      ...Object.fromEntries(first),
    })
    if (TAKES_ALL) {
      const packages = ['nodemon@3', 'vite@6', 'typescript@5']
      const install = ['install', '--no-save', '--no-package-lock', '--no-audit', '--no-fund', ...packages]
      await promisify(execFile)('npm', install, { cwd: join(place.folder, 'node') })
    }
    const services = TAKES_ALL ? ['node', 'python'] : ['node']
    const deploy = place.devctl('deploy', '--registry', `${REGISTRY}/watchers`, ...services)
    expect(await deploy.status, deploy.stderr).toBe(0)
    for (const dev of services) {
      const up = place.devctl('up', dev, '--detach')
      expect(await up.status, up.stderr).toBe(0)
    }
  })
  afterAll(async () => {
    await place?.devctl('down', '--all').status
    await place?.close()
  })

  const chosen = watchers(PORTS).filter(({ name }) => TAKES_ALL || QUICK.includes(name))
  test.concurrent.each(chosen)(`$name sees ${SAVES} of ${SAVES} saves`, async watcher => {
    const program = place.devctl('exec', watcher.dev, '--', ...watcher.command)
    await sees(program, watcher, 'first', 300)
    for (let save = 1; save <= SAVES; save++) {
      const mark = `save-${save}-of-${SAVES}`
      await new Promise(resolve => setTimeout(resolve, PAUSE))
      const path = join(place.folder, watcher.dev, watcher.file)
      // Some editors write into the file, others replace it with a new one.
      if (save % 2) writeFileSync(path, watcher.text(mark))
      else {
        writeFileSync(`${path}~`, watcher.text(mark))
        renameSync(`${path}~`, path)
      }
      await sees(program, watcher, mark, SEEN)
    }
    program.process.kill('SIGKILL')
  })

  const sees = (program: Program, { page }: Watcher, mark: string, seconds: number) =>
    eventually(
      mark,
      async () => {
        const text = page === undefined ? program.stdout : await fetched(page)
        return text.includes(mark) || undefined
      },
      { explain: async () => `${program.stdout.slice(-2000)}\n${program.stderr.slice(-2000)}`, seconds, pause: 100 },
    )
})

/** Returns the page, or an empty text while the program restarts. */
async function fetched(page: string): Promise<string> {
  const answer = await fetch(page, { signal: AbortSignal.timeout(60_000) }).catch(() => undefined)
  return (await answer?.text().catch(() => '')) ?? ''
}
