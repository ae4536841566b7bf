import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { makeFolder } from '../../support/cli/folder.ts'
import { run } from '../../support/run.ts'

const files = {
  'compose.yaml': `name: shop
services:
  web:
    image: nginx:\${TAG:-1.27}
    environment:
      PRICE: 5$$
    networks: [front]
  api:
    build: ./api
    profiles: [dev, debug]
    volumes: [data:/data]
volumes:
  data:
  unused:
networks:
  front:
`,
  'compose.prod.yaml': 'services:\n  web:\n    environment:\n      PRICE: "6"\n      MODE: ""\n',
  '.env': 'TAG=1.28\n',
}
const config = (...argv: string[]) => run(['config', ...argv], { cwd: makeFolder(files) })

describe('config', () => {
  test('config prints names and images without control characters', async () => {
    const cwd = makeFolder({ 'compose.yaml': 'services: {web: {image: "x\\e[31m\\e[2Jy"}}\n' })
    expect((await run(['config', '--images'], { cwd })).stdout).toBe('x\\u{1b}[31m\\u{1b}[2Jy\n')
  })

  test('config prints the same model as YAML and as JSON, and reads it back unchanged', async () => {
    const yaml = await config()
    expect(yaml).toMatchObject({ status: 0, stderr: '' })
    const model = parse(yaml.stdout)
    expect(model.services.web).toMatchObject({ image: 'nginx:1.28', environment: { PRICE: '5$$' } })
    expect(Object.keys(model.services)).toEqual(['web'])
    const cwd = makeFolder(files)
    const json = await run(['config', '--format', 'json'], { cwd })
    expect(JSON.parse(json.stdout).services.web).toEqual(model.services.web)
    const again = await run(['config', '--format', 'json', '-f', '-', '--project-directory', cwd], {
      cwd,
      stdin: json.stdout,
    })
    expect(again.stdout).toBe(json.stdout)
  })

  test('config leaves out what no service uses, unless `--all-resources` is given', async () => {
    expect(parse((await config('--profile', 'dev')).stdout).volumes).toEqual({ data: expect.anything() })
    const all = parse((await config('--profile', 'dev', '--all-resources')).stdout)
    expect(Object.keys(all.volumes)).toEqual(['data', 'unused'])
  })

  test.each([
    [['--services'], 'web\n'],
    [['--services', '--profile', 'dev'], 'web\napi\n'],
    [['--images', '--profile', 'dev'], 'nginx:1.28\nshop-api\n'],
    [['--volumes'], 'data\nunused\n'],
    [['--profiles'], 'debug\ndev\n'],
    [['--quiet'], ''],
    [['-q'], ''],
  ])('config prints what %j selects', async (argv, stdout) =>
    expect(await config(...argv)).toEqual({ status: 0, stdout, stderr: '' }),
  )

  test('config lists the images of jobs, which are no services', async () => {
    const jobs = 'jobs: {backup: {image: "busybox:1.37", triggers: {manual: true}}}'
    const cwd = makeFolder({ 'compose.yaml': `services: {web: {image: "nginx:1.28"}}\n${jobs}\n` })
    expect((await run(['config', '--services'], { cwd })).stdout).toBe('web\n')
    expect((await run(['config', '--images'], { cwd })).stdout).toBe('nginx:1.28\nbusybox:1.37\n')
  })

  test('config prints hashes that follow the configuration of a service', async () => {
    const all = await config('--hash', '--profile', 'dev')
    expect(all.stdout).toMatch(/^api [0-9a-f]{64}\nweb [0-9a-f]{64}\n$/)
    expect((await config('--hash', 'web')).stdout).toBe(`${all.stdout.split('\n')[1]}\n`)
    const changed = await config('-f', 'compose.yaml', '-f', 'compose.prod.yaml', '--hash', 'web')
    expect(changed.stdout).not.toBe((await config('--hash', 'web')).stdout)
    expect(await config('--hash', 'wbe')).toEqual({
      status: 1,
      stdout: '',
      stderr: 'error: service `wbe` does not exist\n  = help: did you mean `web`?\n',
    })
  })

  test('config prints the origin of each value', async () => {
    const { stdout } = await config('-f', 'compose.yaml', '-f', 'compose.prod.yaml', '--provenance')
    const line = (path: string) => stdout.split('\n').find(one => one.startsWith(`${path}:`))
    expect(line('services.web.image')).toMatch(
      /^services\.web\.image: "nginx:1\.28" +# compose\.yaml:4:12; TAG from \.env:1$/,
    )
    expect(line('services.web.environment.PRICE')).toMatch(/"6" +# compose\.prod\.yaml:4:14; over compose\.yaml:6:14$/)
    expect(line('services.web.environment.MODE')).toMatch(/: "" +# compose\.prod\.yaml:5:13$/)
    const json = JSON.parse((await config('--provenance', '--format', 'json')).stdout)
    expect(json).toContainEqual({
      path: 'services.web.image',
      value: 'nginx:1.28',
      place: { file: 'compose.yaml', line: 4, column: 12 },
      replaced: [],
      variables: [{ name: 'TAG', origin: '.env:1' }],
    })
  })

  test('config prints the values of a job at its path in the file', async () => {
    const text = 'jobs: {backup: {image: alpine, cpuset: "0", triggers: {schedule: [{cron: "@daily"}]}}}\n'
    const cwd = makeFolder({ 'compose.yaml': text })
    const { stdout } = await run(['config', '--provenance'], { cwd })
    expect(stdout).toContain('jobs.backup.image: "alpine"')
    expect(stdout).toContain('jobs.backup.triggers.schedule[0].cron: ')
    expect(stdout).not.toContain('services.backup')
  })

  test('config prints mistakes, and no model', async () => {
    const { status, stdout, stderr } = await run(['config'], {
      cwd: makeFolder({ 'compose.yaml': 'services: {web: {imagee: x}}' }),
    })
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr).toContain('did you mean `image`?')
    expect(await run(['config', '-q'], { cwd: makeFolder() })).toMatchObject({ status: 1, stdout: '' })
  })
})
