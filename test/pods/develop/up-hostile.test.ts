import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { write } from '../../support/cli/folder.ts'
import { eventually, findCluster } from '../../support/cluster/cluster.ts'
import type { Program } from '../../support/cluster/program.ts'
import { longTest } from '../../support/takes-all.ts'
import { type DevelopmentPlace, openDevelopment } from './development.ts'

const found = findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined

const MANIFEST = `dev:
  api:
    autocreate: true
    image: busybox:1.37
    command: ["sh", "-c", "echo it runs; sleep 300"]
    workdir: /app
    sync: [".:/app"]
    persistentVolume: {enabled: false}
`

describe.skipIf(cluster === undefined)('devctl up with a hostile container', () => {
  let place: DevelopmentPlace
  let up: Program

  beforeAll(async () => {
    // The project contains devctl's own folder.
    place = await openDevelopment(cluster!, 'up-hostile', { DEVCTL_HOME: 'config/devctl' })
    write(place.folder, {
      'devctl.yml': MANIFEST,
      '.env': 'A=1\n',
      readme: 'here\n',
      'src/one': '1\n',
      'src/two': '2\n',
    })
    up = place.devctl('up')
    await up.until(/it runs/, 180)
  })
  afterAll(() => place?.close())

  const inContainer = async (script: string) => {
    const program = place.devctl('exec', '--', 'sh', '-c', script)
    expect(await program.status, program.stderr).toBe(0)
  }

  test('the container gets no keys of devctl and cannot change its SSH configuration', async () => {
    const config = join(place.folder, 'config/devctl/ssh/config')
    const before = readFileSync(config, 'utf8')
    await inContainer('! grep -r PRIVATE /app && ! [ -e config/devctl ]')
    await inContainer(
      'mkdir -p config/devctl/ssh; echo "ProxyCommand x" > config/devctl/ssh/config; touch config/other',
    )
    await eventually('what is beside it comes back', async () =>
      readdirSync(join(place.folder, 'config')).includes('other') ? true : undefined,
    )
    expect(readFileSync(config, 'utf8')).toBe(before)
    await inContainer('rm -rf config')
    expect(readFileSync(config, 'utf8')).toBe(before)
  })

  test('the container cannot change the manifest and `.env`, or create a git repository', async () => {
    const bare = 'mkdir -p lib/objects lib/refs; echo "ref: refs/heads/main" > lib/HEAD'
    await inContainer(`echo "dev: {api: {mode: hybrid, command: touch evil}}" > devctl.yml; echo A=2 > .env
${bare}; printf '[core]\\n\\trepositoryformatversion = 0\\n\\tbare = true\\n\\tfsmonitor = touch evil\\n' > lib/config; touch last`)
    await eventually('what was written after it comes', async () =>
      ['last', 'lib'].every(name => readdirSync(place.folder).includes(name)) ? true : undefined,
    )
    expect(readFileSync(join(place.folder, 'devctl.yml'), 'utf8')).toBe(MANIFEST)
    expect(readFileSync(join(place.folder, '.env'), 'utf8')).toBe('A=1\n')
    const { stderr } = spawnSync('git', ['-C', join(place.folder, 'lib'), 'status'], { encoding: 'utf8' })
    expect(stderr).toContain('not a git repository')
    expect(readdirSync(join(place.folder, 'lib'))).not.toContain('evil')
    await eventually('it is told', async () =>
      ['devctl.yml', '.env', 'lib/HEAD'].every(path => up.stderr.includes(path)) ? true : undefined,
    )
    const status = place.devctl('status')
    expect(await status.status).toBe(0)
    expect(status.stdout + status.stderr).toContain('lib/HEAD')
    await inContainer('rm -rf lib last')
    await eventually('it goes here, too', async () => (readdirSync(place.folder).includes('lib') ? undefined : true))
  })

  // The tests of `tool-files` also cover the list of files, without a container.
  longTest('the next command warns once about tool files that the container has written', async () => {
    await inContainer(
      'mkdir -p web/.vscode; echo "{}" > web/.vscode/tasks.json; echo "touch evil" > .envrc; touch src/third',
    )
    await eventually('they are here', async () =>
      ['.envrc', 'web/.vscode/tasks.json'].every(path => up.stderr.includes(`the container has written ${path}`))
        ? true
        : undefined,
    )
    const named = /^warning: a development container has written files .*: (.*)$/m
    const first = place.devctl('deploy')
    await first.status
    expect(named.exec(first.stderr)?.[1]?.split(', ').sort()).toEqual(['`.envrc`', '`web/.vscode/tasks.json`'])
    const second = place.devctl('deploy')
    await second.status
    expect(second.stderr).not.toMatch(named)
    await inContainer('rm -rf web .envrc src/third')
    await eventually('they go here, too', async () => (readdirSync(place.folder).includes('.envrc') ? undefined : true))
  })

  test('a file that the container deletes is kept, and a deletion of all files stops the sync', async () => {
    await inContainer('rm /app/src/one')
    await eventually('the file is deleted here', async () =>
      readdirSync(join(place.folder, 'src')).includes('one') ? undefined : true,
    )
    const home = join(place.folder, 'config/devctl')
    const kept = readdirSync(home, { recursive: true, encoding: 'utf8' }).find(path => path.endsWith('src/one'))
    expect(kept).toMatch(/\/deleted\/[^/]+\/0\/src\/one$/)
    expect(readFileSync(join(home, kept!), 'utf8')).toBe('1\n')

    writeFileSync(join(place.folder, 'src/one'), 'again\n')
    await inContainer('until [ -e src/one ]; do sleep 0.1; done; rm -rf /app/*')
    await eventually('the synchronization stops', async () =>
      /files of \. are gone in the container/.test(up.stderr) ? true : undefined,
    )
    expect(readdirSync(place.folder).sort()).toEqual(['.env', 'config', 'devctl.yml', 'readme', 'src'])
    expect(readdirSync(join(place.folder, 'src')).sort()).toEqual(['one', 'two'])
  })
})
