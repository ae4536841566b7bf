import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { commands } from '../../../../cli/commands.ts'
import { UserError } from '../../../../compiler/diagnostics/user-error.ts'
import { ROUTES } from '../../../../platform/api/routes.ts'
import { toUsage } from '../../../../platform/records/usage.ts'
import {
  DURATIONS,
  durationOf,
  NO_USAGE,
  OTHER,
  OUTCOMES,
  outcomeOf,
  plainVersion,
  SYSTEMS,
  sumOf,
  systemOf,
  USED_COMMANDS,
  type UsedCommand,
  withCommand,
} from '../../../../platform/rules/usage.ts'
import { isUsageOff, recordUsage, sendUsage, setUsage } from '../../../../platform/session/usage.ts'
import { root } from '../../../support/cases.ts'
import { run } from '../../../support/run.ts'

const used: UsedCommand = { command: 'deploy', version: '0.1.0', system: 'linux', duration: '10s', outcome: 'done' }

/** The JSON Schema of one command. */
const sent = ROUTES['POST /analytics'].body.properties.commands.items as unknown as {
  readonly properties: Readonly<Record<string, { readonly pattern?: string }>>
  readonly additionalProperties: boolean
}

describe('a home that cannot be written', () => {
  test.each([true, false])('a home that cannot be written is reported when analytics are set to %s', isOn => {
    const file = join(mkdtempSync(join(tmpdir(), 'usage-')), 'file')
    writeFileSync(file, '')
    const turn = () => setUsage({ env: { DEVCTL_HOME: join(file, 'home') }, cwd: '/' }, isOn)
    expect(turn).toThrow(UserError)
    expect(turn).toThrow(/^cannot write `.*file\/home\/analytics`: ENOTDIR$/)
  })
})

describe('the fields of a counted command', () => {
  test('the counted fields are a closed list, which the docs contain and the API enforces', () => {
    const page = readFileSync(join(root, 'docs/analytics.md'), 'utf8')
    const fields = [...page.matchAll(/^\| `(\w+)` \|/gm)].map(([, field]) => field)
    const { properties, additionalProperties } = sent
    expect(Object.keys(properties)).toEqual(fields)
    expect(additionalProperties).toBe(false)
    expect(Object.keys(used)).toEqual(fields)
    for (const word of [...SYSTEMS, ...DURATIONS, ...OUTCOMES]) expect(page).toContain(`\`${word}\``)
  })

  test('USED_COMMANDS has the names of all commands', () => {
    expect([...USED_COMMANDS].sort()).toEqual(commands.map(({ name }) => name).sort())
    const { pattern = '' } = sent.properties['command'] ?? {}
    for (const { name } of commands) expect(name).toMatch(new RegExp(pattern))
  })

  test.each([
    [0, '1s'],
    [1000, '1s'],
    [1001, '10s'],
    [59_000, '1m'],
    [600_000, '10m'],
    [600_001, 'longer'],
  ])('%i ms are counted as %s', (milliseconds, expected) => expect(durationOf(milliseconds)).toBe(expected))

  test.each([
    [0, 'done'],
    [1, 'failed'],
    [2, 'usage'],
    [3, 'done'],
    [130, 'interrupted'],
    [7, 'failed'],
  ])('the exit status %i is counted as %s', (status, expected) => expect(outcomeOf(status)).toBe(expected))

  test('unusual systems and versions are simplified', () => {
    expect(['linux', 'darwin', 'freebsd'].map(systemOf)).toEqual(['linux', 'darwin', 'other'])
    expect(['0.1.0', '1.22.3-ann.laptop+x', 'main'].map(plainVersion)).toEqual(['0.1.0', '1.22.3', '0.0.0'])
  })
})

describe('the counts of a day', () => {
  test('each field of a command is counted separately', () => {
    const day = withCommand(withCommand(NO_USAGE, used), { ...used, outcome: 'failed', system: 'darwin' })
    expect(day).toEqual({
      commands: { deploy: { done: 1, failed: 1, '10s': 2 } },
      versions: { '0.1.0': 2 },
      systems: { linux: 1, darwin: 1 },
    })
    expect(sumOf(day, day).commands['deploy']).toEqual({ done: 2, failed: 2, '10s': 4 })
  })

  test('the counts do not grow with invented versions and commands', () => {
    let day = NO_USAGE
    for (let n = 0; n < 3000; n++) day = withCommand(day, { ...used, version: `0.0.${n}`, command: `c ${n}` })
    let sum = day
    for (let n = 0; n < 20; n++) sum = sumOf(sum, day)
    expect(Object.keys(sum.versions)).toHaveLength(21)
    expect(sum.versions[OTHER]).toBeGreaterThan(2900 * 20)
    expect(JSON.stringify(sum).length).toBeLessThan(20_000)
  })

  test('counts that cannot be read are skipped', () => {
    const data = {
      '2026-11-23': Buffer.from('{"commands":{"deploy":{"done":-1,"failed":2}},"systems":[1]}').toString('base64'),
      '2026-11-22': 'no base64 of JSON',
      '2026-11-21': Buffer.from('[]').toString('base64'),
      other: 'x',
    }
    expect([...toUsage({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'analytics' }, data })]).toEqual([
      ['2026-11-23', { commands: { deploy: { failed: 2 } }, versions: {}, systems: {} }],
    ])
  })
})

describe('the counts of a machine', () => {
  let home: string
  const url = 'https://platform.dev.example.com'
  const ran = { command: 'deploy', platform: url, milliseconds: 1500, status: 0 }
  const around = (env = {}) => ({ cwd: '/', env: { DEVCTL_HOME: home, ...env } })
  const folder = () => join(home, 'analytics')
  const sent = async () => {
    const all: (readonly UsedCommand[])[] = []
    await sendUsage(
      around(),
      url,
      async commands => all.push(commands),
      async () => {},
    )
    return all
  }

  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'devctl-usage-'))
  })
  afterEach(() => rmSync(home, { recursive: true }))

  test('counts wait until they are sent once, and only the user can read them', async () => {
    expect(recordUsage(around(), ran)).toBe(true)
    const [file] = readdirSync(folder())
    expect(statSync(join(folder(), file!)).mode & 0o777).toBe(0o600)
    expect(readFileSync(join(folder(), file!), 'utf8')).not.toContain('example')
    expect(await sent()).toEqual([[{ ...used, system: systemOf(process.platform) }]])
    expect(await sent()).toEqual([])
    // Another process is about to send.
    expect(recordUsage(around(), ran)).toBe(false)
  })

  test('counts that are recorded during a send are sent by the same process', async () => {
    recordUsage(around(), ran)
    const all: string[][] = []
    let left = 2
    await sendUsage(
      around(),
      url,
      async commands => all.push(commands.map(({ command }) => command)),
      async milliseconds => {
        expect(milliseconds).toBeLessThan(30_000)
        if (left-- > 0) expect(recordUsage(around(), { ...ran, command: 'ps' })).toBe(false)
      },
    )
    expect(all).toEqual([['deploy'], ['ps'], ['ps']])
  })

  test('counts are sent only to the platform that they belong to', async () => {
    recordUsage(around(), { ...ran, platform: 'https://other.example.com' })
    expect(await sent()).toEqual([])
  })

  test('counts that cannot be sent wait for the next time', async () => {
    recordUsage(around(), ran)
    await sendUsage(around(), url, () => Promise.reject(new Error('no network')))
    recordUsage(around(), { ...ran, status: 1 })
    expect((await sent())[0]?.map(({ outcome }) => outcome)).toEqual(['done', 'failed'])
  })

  test('the size of the recorded counts is limited', async () => {
    for (let n = 0; n < 1000; n++) recordUsage(around(), ran)
    const [file] = readdirSync(folder())
    expect(statSync(join(folder(), file!)).size).toBeLessThan(17 * 1024)
    expect((await sent())[0]).toHaveLength(100)
  })

  test('disabling analytics deletes the counts, and nothing is counted until they are enabled', async () => {
    recordUsage(around(), ran)
    setUsage(around(), false)
    expect(readdirSync(folder())).toEqual(['off'])
    expect([isUsageOff(around()), recordUsage(around(), ran)]).toEqual([true, false])
    expect(readdirSync(folder())).toEqual(['off'])
    setUsage(around(), true)
    expect([isUsageOff(around()), recordUsage(around(), ran)]).toEqual([false, true])
  })

  test('disabling analytics during a send restores no counts', async () => {
    recordUsage(around(), ran)
    await sendUsage(around(), url, async () => {
      setUsage(around(), false)
      throw new Error('no network')
    })
    expect(readdirSync(folder())).toEqual(['off'])
  })

  test.each([
    ['1', true],
    ['true', true],
    ['0', false],
    ['', false],
  ])('DO_NOT_TRACK=%j is respected', (value, isOff) => {
    expect(isUsageOff(around({ DO_NOT_TRACK: value }))).toBe(isOff)
    expect(existsSync(folder())).toBe(false)
  })

  test('`--enable` reports what still disables analytics', async () => {
    const enable = async (value: string) =>
      (await run(['analytics', '--enable'], { cwd: home, env: { DEVCTL_HOME: home, DO_NOT_TRACK: value } })).stdout
    expect(await enable('1')).toBe('Analytics are disabled by `DO_NOT_TRACK`: devctl counts nothing\n')
    expect(await enable('')).toContain('Analytics are enabled: ')
  })

  test('a folder that cannot be written is no error', () => {
    writeFileSync(join(home, 'file'), '')
    expect(recordUsage({ cwd: '/', env: { DEVCTL_HOME: join(home, 'file') } }, ran)).toBe(false)
  })
})
