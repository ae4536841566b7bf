import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { quote } from '../../../compiler/values/shell-words.ts'
import { fillContainers, fillScript } from '../../../constructs/pod/fill.ts'
import { takenNames } from '../../../constructs/pod/helper.ts'
import { onceScript } from '../../../constructs/pod/once.ts'
import { planTools } from '../../../constructs/pod/tools.ts'
import { waitContainers } from '../../../constructs/pod/wait-for.ts'
import { shellCommand } from '../../../develop/ssh/container.ts'
import { everything } from '../../support/constructs/everything.ts'
import { podOf } from '../../support/constructs/plans.ts'
import { few, longTest } from '../../support/takes-all.ts'

/**
 * The scripts run for real, in a folder that stands for the Pod's file system; a stand-in for busybox calls the
 * machine's own tools.
 */
let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'devctl-scripts-'))
  mkdirSync(join(folder, 'volume'))
  program('busybox', 'case "$1" in sleep) exit 0;; esac; exec "$@"')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function program(name: string, script: string): void {
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`)
  chmodSync(join(folder, name), 0o755)
}

function run(script: string, host = 'pod-1') {
  const local = script
    .replaceAll('/devctl/busybox', join(folder, 'busybox'))
    .replaceAll('/devctl-volume', join(folder, 'volume'))
  const env = { PATH: `${folder}:${process.env['PATH']}`, HOSTNAME: host }
  const { status, stdout, stderr } = spawnSync('sh', ['-c', local], { env, encoding: 'utf8' })
  return { status, stdout, stderr }
}

describe('filling a volume', () => {
  const fill = (directory: string, path = join(folder, 'image'), rootless = false, host?: string) =>
    run(fillScript({ directory, path, rootless }, 'fill-data'), host)
  const volume = (...path: string[]) => join(folder, 'volume', ...path)

  beforeEach(() => {
    mkdirSync(join(folder, 'image/.hidden'), { recursive: true })
    writeFileSync(join(folder, 'image/.hidden/one'), '1')
    writeFileSync(join(folder, 'image/two'), '2')
    symlinkSync('two', join(folder, 'image/link'))
    chmodSync(join(folder, 'image/two'), 0o640)
    chmodSync(join(folder, 'image'), 0o711)
  })

  test('fillScript copies content, hidden files, links and modes, and nothing else', () => {
    expect(fill('data')).toEqual({ status: 0, stdout: '', stderr: '' })
    expect(readdirSync(volume())).toEqual(['data'])
    expect(readdirSync(volume('data')).sort()).toEqual(['.hidden', 'link', 'two'])
    expect(readFileSync(volume('data/.hidden/one'), 'utf8')).toBe('1')
    expect(statSync(volume('data')).mode & 0o777).toBe(0o711)
    expect(statSync(volume('data/two')).mode & 0o777).toBe(0o640)
  })

  const names = [
    'nested/dir',
    "it's",
    '`id`',
    '-dash',
    'line\nbreak',
    'data',
    'with space',
    '$HOME',
    'a;b',
    'ünï',
    '"q"',
  ]
  test.each(few(names, 2))('fillScript fills the directory %j only once', directory => {
    expect(fill(directory)).toEqual({ status: 0, stdout: '', stderr: '' })
    expect(readFileSync(volume(directory, 'two'), 'utf8')).toBe('2')
    writeFileSync(volume(directory, 'two'), 'changed')
    expect(fill(directory).status).toBe(0)
    expect(readFileSync(volume(directory, 'two'), 'utf8')).toBe('changed')
    expect(readdirSync(volume())).toHaveLength(1)
  })

  longTest('fillScript fills several directories in one volume', () => {
    expect(fill('a').status).toBe(0)
    expect(fill('b/c').status).toBe(0)
    expect(readdirSync(volume()).sort()).toEqual(['a', 'b'])
  })

  test.each(few(['.hidden-only', '..odd', 'file']))('fillScript leaves a directory with %s in it unchanged', name => {
    mkdirSync(volume('data'))
    writeFileSync(volume('data', name), '')
    expect(fill('data').status).toBe(0)
    expect(readdirSync(volume('data'))).toEqual([name])
  })

  test('fillScript leaves a directory that contains a broken link unchanged', () => {
    mkdirSync(volume('data'))
    symlinkSync('nowhere', volume('data/broken'))
    expect(fill('data').status).toBe(0)
    expect(readdirSync(volume('data'))).toEqual(['broken'])
  })

  test('fillScript fills an existing empty directory, and follows a source that is a link', () => {
    mkdirSync(volume('data'))
    symlinkSync('image', join(folder, 'linked'))
    expect(fill('data', join(folder, 'linked')).status).toBe(0)
    expect(readdirSync(volume('data')).sort()).toEqual(['.hidden', 'link', 'two'])
  })

  test('fillScript creates an empty directory if the image does not have the folder', () => {
    expect(fill('data', '/no/such/folder').status).toBe(0)
    expect(statSync(volume('data')).mode & 0o777).toBe(0o755)
  })

  test('fillScript starts again after a kill, and deletes the leftovers of others', () => {
    mkdirSync(volume('.fill-data-pod-1'))
    writeFileSync(volume('.fill-data-pod-1/half'), '')
    mkdirSync(volume('.fill-data-killed'))
    expect(fill('data').status).toBe(0)
    expect(readdirSync(volume())).toEqual(['data'])
    expect(readdirSync(volume('data')).sort()).toEqual(['.hidden', 'link', 'two'])
  })

  test('fillScript does not move files into a directory that another Pod has filled', () => {
    // The other Pod is faster: its files exist when this one has made its copy.
    program('busybox', `[ "$1" = mv ] && mkdir -p "${volume('data')}" && touch "${volume('data/other')}"; exec "$@"`)
    expect(fill('data').status).toBe(0)
    expect(readdirSync(volume('data'))).toEqual(['other'])
    program('busybox', 'exec "$@"')
    expect(fill('data').status).toBe(0)
    expect(readdirSync(volume())).toEqual(['data'])
    expect(readdirSync(volume('data'))).toEqual(['other'])
  })

  test('fillScript does not replace a directory that another Pod may have mounted', () => {
    mkdirSync(volume('data'))
    const { ino } = statSync(volume('data'))
    expect(fill('data').status).toBe(0)
    expect(fill('data', '/no/such/folder').status).toBe(0)
    expect(statSync(volume('data')).ino).toBe(ino)
    expect(statSync(volume('data')).mode & 0o777).toBe(0o711)
  })

  longTest('fillScript continues after a kill between its moves', () => {
    program('busybox', `case "$*" in "mv ./.fill-data/two"*) exit 137;; esac; exec "$@"`)
    expect(fill('data').status).not.toBe(0)
    expect(readdirSync(volume('data'))).not.toContain('two')
    program('busybox', 'exec "$@"')
    expect(fill('data', join(folder, 'image'), false, 'pod-2').status).toBe(0)
    expect(readdirSync(volume())).toEqual(['data'])
    expect(readdirSync(volume('data')).sort()).toEqual(['.hidden', 'link', 'two'])
  })

  test('fillScript ends at a failed copy and leaves the directory empty', () => {
    program('busybox', '[ "$1" = cp ] && exit 1; exec "$@"')
    expect(fill('data').status).not.toBe(0)
    expect(readdirSync(volume())).toEqual(['data'])
    expect(readdirSync(volume('data'))).toEqual([])
  })

  longTest('fillScript does not copy owners without root', () => {
    expect(fillScript({ directory: 'data', path: '/srv', rootless: true }, 'fill-data')).not.toContain('cp -a')
    expect(fill('data', join(folder, 'image'), true).status).toBe(0)
    expect(readdirSync(volume('data')).sort()).toEqual(['.hidden', 'link', 'two'])
  })

  describe('the owner of a folder of the host', () => {
    const given = (uid: number, shared: boolean, isEmpty: boolean) => {
      // Tests need not run as root.
      program(
        'busybox',
        `case "$1 $3" in "stat %u") echo ${uid}; exit;; chown*) echo "$@" >> "${join(folder, 'owners')}"; exit;; esac; exec "$@"`,
      )
      const owner = { user: 'node', group: '5', isShared: shared }
      const more = isEmpty ? ({ isEmpty: true } as const) : {}
      const path = join(folder, 'image')
      const { status } = run(fillScript({ directory: 'data', path, rootless: false, owner, ...more }, 'fill-data'))
      expect(status).toBe(0)
      const owners = readFileSync(join(folder, 'owners'), { encoding: 'utf8', flag: 'a+' }).split('\n')
      return owners.filter(line => line.includes('node'))
    }

    test('an empty folder of root gets the owner', () => {
      expect(given(0, false, true)).toEqual(['chown node:5 ./data'])
      expect(readdirSync(volume())).toEqual(['data'])
      expect(readdirSync(volume('data'))).toEqual([])
    })

    test('a folder of root gets the owner together with the files of the image', () => {
      expect(given(0, true, false)).toEqual(['chown node:5 ./data', 'chown -hR node:5 ./.fill-data-pod-1'])
      expect(readdirSync(volume('data')).sort()).toEqual(['.hidden', 'link', 'two'])
      expect(statSync(volume('data')).mode & 0o777).toBe(0o777)
    })

    test('a shared folder is writable for others', () => {
      given(0, true, true)
      expect(statSync(volume('data')).mode & 0o777).toBe(0o777)
    })

    test('a folder of another user keeps its owner and its mode', () => {
      expect(given(999, true, true)).toEqual([])
      expect(statSync(volume('data')).mode & 0o777).not.toBe(0o777)
    })
  })

  test('containers that fill volumes run as root unless their Pod does not', () => {
    const [deployment] = everything.workloads
    const taken = takenNames(deployment!.pod)
    const fills = fillContainers(deployment!.pod, planTools(deployment!.pod, taken), taken)
    expect(fills.map(({ name, security }) => [name, security])).toEqual([
      ['fill-data', { runAsUser: 0 }],
      ['fill-data-2', { runAsUser: 0 }],
      ['fill-cache', { runAsUser: 1000 }],
    ])
  })
})

describe('a program that may end before its container', () => {
  /** Runs a script with a program; the container is stopped when it stays. */
  const once = (script: string, retries: number | undefined, input = '') => {
    const pauses = join(folder, 'pauses')
    program(
      'busybox',
      `[ "$1 $2" = "sleep 86400" ] && exec kill -TERM "$PPID"; [ "$1" = sleep ] && { echo "$2" >> "${pauses}"; exit; }; exec "$@"`,
    )
    const own = onceScript(retries === undefined ? {} : { retries })
    const local = own.replaceAll('/devctl/busybox', join(folder, 'busybox'))
    const { stdout, stderr } = spawnSync('sh', ['-c', local, 'job', 'sh', '-c', script], { input, encoding: 'utf8' })
    const paused = readFileSync(pauses, { encoding: 'utf8', flag: 'a+' }).split('\n').slice(0, -1)
    return { stdout, stays: /ended with status (\d+); its container stays/.exec(stderr)?.[1], pauses: paused }
  }

  test('a successful program runs once, and its container stays', () => {
    expect(once('echo ran', 5)).toEqual({ stdout: 'ran\n', stays: '0', pauses: [] })
  })

  test('a failing program runs as often as its retries allow, and its container stays', () => {
    expect(once('echo ran; exit 3', 0)).toEqual({ stdout: 'ran\n', stays: '3', pauses: [] })
    expect(once('echo ran; exit 3', 2)).toEqual({ stdout: 'ran\n'.repeat(3), stays: '3', pauses: ['10', '20'] })
  })

  test('a failing program is started again until it succeeds', () => {
    const counter = join(folder, 'runs')
    const script = `echo x >> ${quote(counter)}; [ "$(wc -l < ${quote(counter)})" -ge 8 ]`
    expect(once(script, undefined)).toEqual({
      stdout: '',
      stays: '0',
      pauses: ['10', '20', '40', '80', '160', '300', '300'],
    })
  })

  test('a program reads the input of its container and ends with it', () => {
    expect(once('cat', 0, 'given').stdout).toBe('given')
    const script = 'trap "echo stopped; exit 7" TERM; kill -TERM "$PPID"; while :; do sleep 1 & wait $!; done'
    expect(once(script, 5)).toEqual({ stdout: 'stopped\n', stays: undefined, pauses: [] })
  })
})

describe('waiting for a port', () => {
  const script = (ports: readonly number[]): string => {
    const plan = podOf({ waits: [{ kind: 'port', service: 'db', host: 'db', ports, image: 'busybox' }] })
    const context = { taken: takenNames(plan), tools: undefined, tokenVolume: undefined, jobName: () => '' }
    return waitContainers(plan, context)[0]!.command!.at(-1)!
  }

  test.each([
    [[5432], 'waiting for db:5432'],
    [[81, 5432, 82], 'waiting for one of the ports of db'],
  ])('the wait for the ports %j ends when one accepts a connection', (ports, message) => {
    // The port opens while the second round is asked.
    program('nc', `echo "$4" >> "${folder}/asked"; test "$4" = 5432 && test -e "${folder}/open"`)
    program('sleep', `touch "${folder}/open"`)
    expect(run(script(ports))).toEqual({ status: 0, stdout: `${message}\n`, stderr: '' })
    const asked = readFileSync(join(folder, 'asked'), 'utf8').trim().split('\n').map(Number)
    expect(asked).toEqual([...ports, ...ports.slice(0, ports.indexOf(5432) + 1)])
  })
})

describe('waiting for a Job', () => {
  const script = (): string => {
    const waits = [{ kind: 'job', service: 'migrate', image: 'kubectl', toolsImage: 'busybox' }] as const
    const plan = podOf({ waits })
    const taken = takenNames(plan)
    const tools = planTools(plan, taken)
    const [wait] = waitContainers(plan, {
      taken,
      tools,
      tokenVolume: 'wait-token',
      jobName: service => `${service}-1a2b`,
    })
    return wait!.command!.at(-1)!
  }
  /** Writes a kubectl that succeeds for a condition once its file exists, and records each call. */
  const kubectl = (extra = '') =>
    program(
      'kubectl',
      `echo "$@" >> "${folder}/calls"\n${extra}\ncase "$2" in *complete) c=complete;; *) c=failed;; esac\ntest -e "${folder}/$c"`,
    )
  const calls = () => readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n')

  test('the wait ends when the Job is complete', () => {
    kubectl()
    writeFileSync(join(folder, 'complete'), '')
    expect(run(script()).status).toBe(0)
    expect(calls()).toEqual(['wait --for=condition=complete --timeout=10s job/migrate-1a2b'])
  })

  test('the wait fails with a clear message when the Job has failed', () => {
    kubectl()
    writeFileSync(join(folder, 'failed'), '')
    const { status, stderr } = run(script())
    expect(status).toBe(1)
    expect(stderr).toBe('job/migrate-1a2b failed; see: kubectl logs job/migrate-1a2b\n')
  })

  test('the wait continues until the Job is complete', () => {
    kubectl(`test "$(wc -l < "${folder}/calls")" -lt 5 || touch "${folder}/complete"`)
    expect(run(script()).status).toBe(0)
    expect(calls()).toHaveLength(5)
  })
})

test.each([
  'plain',
  'a b',
  "it's",
  "''",
  '$(id)',
  '`id`',
  '"',
  '\\',
  '-n',
  '*',
  '~',
  '',
  'a\nb',
  '#',
  '!x',
  'a=b',
  'ü',
])('the shell reads the quoted %j back', word => {
  const { stdout } = spawnSync('sh', ['-c', `printf %s ${quote(word)}`], { encoding: 'utf8' })
  expect(stdout).toBe(word)
})

describe('a session over SSH', () => {
  test.each([
    ['the folder of the settings', 'code', 'code'],
    ['the working directory of the container, as `exec` does', undefined, '.'],
    ['the home of the user, if its folder is not there', 'gone', 'home'],
  ])('a session starts in %s', (_, workdir, expected) => {
    for (const name of ['code', 'home']) mkdirSync(join(folder, name))
    const tool = join(folder, 'busybox')
    const container = {
      tool,
      workdir: workdir && join(folder, workdir),
      run: () => Promise.reject(new Error('no run')),
    }
    const [command, ...words] = shellCommand(container, 'one', [], 'pwd')
    const env = { PATH: `${folder}:${process.env['PATH']}`, HOME: join(folder, 'home') }
    const { stdout, stderr } = spawnSync(command!, words, { cwd: folder, env, encoding: 'utf8' })
    expect(stdout.split('\n')[0], stderr).toBe(realpathSync(join(folder, expected)))
  })
})
