// Two instances of Syncthing on this machine that share a folder, with the settings that Okteto writes. `undefined` if
// it is not installed.
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const KEY = 'bench'
const DEADLINE = 300_000

/**
 * Starts two connected Syncthing instances, with the folder paused until `begin`; undefined if Syncthing is not
 * installed.
 */
export async function startSyncthing(folder, local, remote) {
  if (spawnSync('syncthing', ['--version']).status !== 0) return undefined
  const sides = []
  for (const [name, path] of [
    ['laptop', local],
    ['container', remote],
  ]) {
    const home = join(folder, `syncthing-${name}`)
    mkdirSync(home, { recursive: true })
    mkdirSync(join(path, '.stfolder'), { recursive: true })
    run('generate', `--home=${home}`)
    const id = run('serve', `--home=${home}`, '--device-id').trim()
    sides.push({ name, path, home, id, gui: await freePort(), port: await freePort() })
  }
  const children = sides.map(side => {
    writeFileSync(join(side.home, 'config.xml'), configOf(side, sides))
    return spawn('syncthing', ['serve', `--home=${side.home}`, '--no-browser', '--no-restart'], { stdio: 'ignore' })
  })
  const [laptop, container] = sides
  await until(async () => {
    const { connections } = await ask(laptop, '/rest/system/connections')
    return connections[container.id]?.connected
  })
  return {
    begin: async () => {
      for (const side of sides) await ask(side, '/rest/config/folders/bench', 'PATCH', { paused: false })
    },
    /** Waits until the container has at least that many bytes and needs no more. */
    hasAll: bytes =>
      until(async () => {
        const { needBytes, localBytes, state } = await ask(container, '/rest/db/status?folder=bench').catch(() => ({}))
        return state === 'idle' && needBytes === 0 && localBytes >= bytes
      }),
    stop: () => children.map(child => child.kill('SIGKILL')),
  }
}

function configOf({ path, gui, port }, sides) {
  const devices = sides
    .map(
      side => `<device id="${side.id}" name="${side.name}" compression="metadata">
  <address>tcp://127.0.0.1:${side.port}</address><paused>false</paused></device>`,
    )
    .join('\n')
  const members = sides.map(({ id }) => `<device id="${id}"/>`).join('')
  return `<configuration version="36">
<folder id="bench" label="bench" path="${path}" type="sendreceive" rescanIntervalS="300" fsWatcherEnabled="true" fsWatcherDelayS="1" paused="true">
<filesystemType>basic</filesystemType>${members}<minDiskFree unit="%">0</minDiskFree><maxConflicts>0</maxConflicts><paused>true</paused></folder>
${devices}
<gui enabled="true" tls="false"><address>127.0.0.1:${gui}</address><apikey>${KEY}</apikey></gui>
<options><listenAddress>tcp://127.0.0.1:${port}</listenAddress><globalAnnounceEnabled>false</globalAnnounceEnabled>
<localAnnounceEnabled>false</localAnnounceEnabled><relaysEnabled>false</relaysEnabled><natEnabled>false</natEnabled>
<startBrowser>false</startBrowser><urAccepted>-1</urAccepted><autoUpgradeIntervalH>0</autoUpgradeIntervalH>
<crashReportingEnabled>false</crashReportingEnabled><reconnectionIntervalS>1</reconnectionIntervalS></options>
</configuration>`
}

async function ask({ gui }, path, method = 'GET', body) {
  const response = await fetch(`http://127.0.0.1:${gui}${path}`, {
    method,
    headers: { 'X-API-Key': KEY, 'Content-Type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return text === '' ? undefined : JSON.parse(text)
}

async function until(look) {
  const end = performance.now() + DEADLINE
  while (!(await look().catch(() => false))) {
    if (performance.now() > end) throw new Error('Syncthing has not done it in five minutes')
    await sleep(20)
  }
}

function run(...words) {
  const { status, stdout, stderr } = spawnSync('syncthing', words, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`syncthing ${words.join(' ')}: ${stderr}`)
  return stdout
}

/** Returns a free port of this machine. */
export async function freePort() {
  const server = createServer()
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address()
  await new Promise(resolve => server.close(resolve))
  return port
}
