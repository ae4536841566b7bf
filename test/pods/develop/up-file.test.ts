import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { write } from '../../support/cli/folder.ts'
import { eventually, findCluster } from '../../support/cluster/cluster.ts'
import { few, longTest } from '../../support/takes-all.ts'
import { type DevelopmentPlace, openDevelopment } from './development.ts'

const found = findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined

describe.skipIf(cluster === undefined)('devctl up with a single file as a host volume', () => {
  let place: DevelopmentPlace

  beforeAll(async () => {
    place = await openDevelopment(cluster!, 'up-file')
    write(place.folder, {
      'compose.yaml': `name: shop
services:
  proxy:
    image: busybox:1.37
    command: ["sleep", "3600"]
    user: "1000:1000"
    volumes: ["./conf/proxy.conf:/etc/proxy.conf"]
    stop_grace_period: 1s
`,
      'conf/proxy.conf': 'one',
      'conf/other.conf': 'not for the container',
    })
  })
  afterAll(async () => {
    await place.devctl('down', 'proxy').status
    await place.close()
  })

  const inside = async (...command: readonly string[]): Promise<string> => {
    const exec = place.devctl('exec', 'proxy', '--', ...command)
    const status = await exec.status
    if (status !== 0) throw new Error(`status ${status}: ${exec.stderr}`)
    return exec.stdout
  }
  /** Waits in the container, as long as its Pod exists, until it reads the text. */
  const reads = (text: string) => {
    const script = `for n in $(seq 100); do [ "$(cat /etc/proxy.conf)" = '${text}' ] && exit; sleep 0.2; done; exit 1`
    return eventually(`the container reads \`${text}\``, async () => {
      const exec = place.devctl('exec', 'proxy', '--', 'sh', '-c', script)
      return (await exec.status) === 0 || undefined
    })
  }

  test('the container reads each save, including saves by rename', async () => {
    const file = join(place.folder, 'conf/proxy.conf')
    const up = place.devctl('up', 'proxy', '--detach')
    expect(await up.status, up.stderr).toBe(0)
    await reads('one')

    const saves: readonly (readonly [text: string, save: (text: string) => void])[] = [
      [
        'two, as vim does it by default',
        text => {
          renameSync(file, `${file}~`)
          writeFileSync(file, text)
          rmSync(`${file}~`)
        },
      ],
      ['three', text => writeFileSync(file, text)],
      [
        'four, which is longer',
        text => {
          writeFileSync(`${file}.new`, text)
          renameSync(`${file}.new`, file)
        },
      ],
    ]
    // Changes of a ConfigMap would not reach the container.
    for (const [text, save] of few(saves)) {
      save(text)
      await reads(text)
    }
  })

  longTest('the file has its own mount', async () => {
    expect(await inside('grep', '-c', ' /etc/proxy.conf ', '/proc/mounts')).toBe('1\n')
  })

  longTest('a file that the container writes is copied here, and its next Pod has the file', async () => {
    const file = join(place.folder, 'conf/proxy.conf')
    await inside('sh', '-c', 'echo five > /etc/proxy.conf')
    await eventually('it is here', async () => (readFileSync(file, 'utf8') === 'five\n' ? true : undefined))

    const { namespace } = place
    await cluster!.kubectl('--namespace', namespace, 'delete', 'pod', '--selector', 'dev.platform/mirror=proxy')
    writeFileSync(file, 'six')
    await reads('six')
  })
})
