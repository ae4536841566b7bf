import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { write } from '../../support/cli/folder.ts'
import { findCluster } from '../../support/cluster/cluster.ts'
import { few, longTest } from '../../support/takes-all.ts'
import { type DevelopmentPlace, openDevelopment } from './development.ts'

const found = findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined

const dev = (name: string, more = '') =>
  `  ${name}: {autocreate: true, image: "node:22-alpine", sync: ["./${name}:/app"]${more}}\n`

describe.skipIf(cluster === undefined)('active development containers', () => {
  let place: DevelopmentPlace

  beforeAll(async () => {
    place = await openDevelopment(cluster!, 'known')
    write(place.folder, {
      'devctl.yml': `dev:\n${dev('api')}${dev('worker')}${dev('odd', ', workdir: /nothere')}`,
      'api/text': '',
      'worker/text': '',
      'odd/text': '',
    })
  })
  afterAll(() => place?.close())

  const devctl = async (...words: readonly string[]) => {
    const one = place.devctl(...words)
    return { status: await one.status, stdout: one.stdout, stderr: one.stderr }
  }

  longTest('commands report a working directory that the container does not have', async () => {
    const up = await devctl('up', 'odd', '--', 'ls')
    expect(up).toMatchObject({ status: 1, stderr: expect.stringContaining('the folder /nothere does not exist') })
    const exec = await devctl('exec', 'odd', '--', 'ls')
    expect(exec).toMatchObject({ status: 1, stderr: expect.stringContaining('the folder /nothere does not exist') })
    expect(await devctl('status', 'odd')).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(
        /`odd-dev` still runs in place of `odd` in known-\d+\n.*`devctl up odd` continues, `devctl down odd` restores/,
      ),
    })
    expect(await devctl('down')).toMatchObject({ status: 0, stderr: expect.stringContaining('odd') })
  })

  // The tests of `candidates` also cover the choice without a cluster.
  longTest('commands find active development containers without the manifest', async () => {
    for (const name of ['api', 'worker']) expect((await devctl('up', name, '--detach')).status).toBe(0)
    writeFileSync(
      join(place.folder, 'devctl.yml'),
      `deploy: {compose: none.yaml}\ndev:\n${dev('api')}  odd: {sync: [x]}\n`,
    )
    const both = await devctl('status')
    expect(both.stdout).toMatch(/api +100.00% {2}ready[\s\S]*worker +100.00% {2}ready/)
    const two = await devctl('exec', '--', 'pwd')
    expect(two.stderr).toContain('there are 2 development containers: `api`, `worker`')
    expect((await devctl('down', 'worker')).status).toBe(0)
    expect(await devctl('exec', '--', 'cat', '/app/text')).toEqual({ status: 0, stdout: '', stderr: '' })
    rmSync(join(place.folder, 'devctl.yml'))
    expect(await devctl('down', '--all')).toMatchObject({
      status: 0,
      stderr: expect.stringMatching(/^(?!.*odd).*api/s),
    })
    expect(await devctl('exec', '--', 'pwd')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('no development container of this project is active'),
    })
  })

  test('commands refuse a namespace that does not exist', async () => {
    writeFileSync(join(place.folder, 'devctl.yml'), `dev:\n${dev('api')}`)
    const missing = ['--namespace', `${place.namespace}-none`]
    for (const words of few([
      ['up', 'api'],
      ['down', 'api'],
      ['status', 'api'],
      ['exec', 'api', '--', 'pwd'],
    ]))
      expect(await devctl(words[0]!, words[1]!, ...missing, ...words.slice(2))).toMatchObject({
        status: 1,
        stderr: expect.stringContaining(`namespace \`${place.namespace}-none\` does not exist`),
      })
  })
})
