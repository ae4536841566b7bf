import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { catalogue } from '../../../compiler/diagnostics/diagnostic.ts'
import { explainedRefusals, REFUSAL_PAGES } from '../../../platform/rules/refusal-pages.ts'
import { makeFolder } from '../../support/cli/folder.ts'
import { run } from '../../support/run.ts'

const good = 'name: shop\nservices:\n  web:\n    image: nginx:1.27\n'
const bad = 'name: shop\nservices:\n  web:\n    imagee: nginx:1.27\n  db:\n    image: x\n    restrat: no\n'
const usual = ['validate', '--namespace', 'shop', '--domain', 'dev.example.com']

const validate = (file: string, argv: readonly string[] = [], env: Readonly<Record<string, string>> = {}) =>
  run([...usual, ...argv], { cwd: makeFolder({ 'compose.yaml': file }), env })

describe('validate', () => {
  test('validate reports no errors for a valid file', async () => {
    expect(await validate(good)).toEqual({ status: 0, stdout: '', stderr: 'no errors in 1 service\n' })
  })

  test('validate prints the same warnings as render', async () => {
    const file =
      `${good}    build: .\n    ports: ['8080:80']\n    secrets: [s]\nsecrets:\n  s:\n    environment: S\n`.replace(
        / {4}image.*\n/,
        '',
      )
    const cwd = makeFolder({ 'compose.yaml': file, Dockerfile: 'FROM scratch\n' })
    const rendered = await run(['render'], { cwd, env: { S: 's' } })
    for (const option of ['--registry', '--domain', '--namespace', '--include-secrets'])
      expect(rendered.stderr).toContain(option)
    const validated = await run(['validate'], { cwd, env: { S: 's' } })
    expect(validated.stderr.replace(/\n.*\n$/, '')).toBe(rendered.stderr.replace(/\n.*\n$/, ''))
    expect(validated.status).toBe(0)
  })

  test('validate prints one entry for each code, errors first, and all entries in JSON', async () => {
    const services = Array.from({ length: 60 }, (_, i) => [`s${i}`, { image: 'x', cpuset: '0' }])
    const warned = { name: 'shop', services: Object.fromEntries(services) }
    const { stderr } = await validate(JSON.stringify(warned, undefined, 1))
    expect(stderr.match(/^warning\[/gm)).toHaveLength(1)
    expect(stderr.match(/--> compose.yaml/g)).toHaveLength(3)
    expect(stderr).toContain('60 in all')
    const json = await validate(JSON.stringify(warned), ['--output', 'json'])
    expect(JSON.parse(json.stdout)).toHaveLength(60)

    const keys = Object.fromEntries(services.map(([name]) => [`bad-${name}`, 1]))
    const broken = { ...warned, services: { ...warned.services, web: { image: 'x', ...keys } } }
    const failed = await validate(JSON.stringify(broken, undefined, 1))
    expect(failed.stderr).toMatch(/^error\[services\/unknown-key\]/)
    expect(failed.stderr.match(/^error\[/gm)).toHaveLength(1)
    for (const key of Object.keys(keys)) expect(failed.stderr).toContain(`unknown key \`${key}\``)
  })

  test('validate does not warn about a variable without a value and a default', async () => {
    const file = `${good}    environment: [NOWHERE, OTHER=1]\n`
    expect((await validate(file)).stderr).toBe('no errors in 1 service\n')
    expect((await validate(file, ['--strict'])).status).toBe(0)
    expect((await validate(file, ['--loglevel', 'info'])).stderr).toContain('info[environment/no-value]: `NOWHERE`')
    const rendered = await run(['render', '--namespace', 'shop'], { cwd: makeFolder({ 'compose.yaml': file }) })
    expect(rendered.stderr).toBe('2 objects from 1 service\n')
    expect(rendered.stdout).not.toContain('NOWHERE')
  })

  test.each(['validate', 'render'])('%s warns of an image that could not be pushed', async command => {
    const files = { Dockerfile: 'FROM scratch\n' }
    const said = async (service: string, ...argv: readonly string[]) => {
      const compose = `name: shop\nservices:\n  web: {build: ., ${service}}\n`
      const options = ['--namespace', 'shop', ...argv]
      return (await run([command, ...options], { cwd: makeFolder({ ...files, 'compose.yaml': compose }) })).stderr
    }
    const official = 'warning[image/official-name]: the image of `web` cannot be pushed as `web:1`'
    expect(await said('image: "web:1"')).toContain(official)
    for (const name of ['docker.io/web', 'index.docker.io/library/web', 'library/web'])
      expect(await said(`image: ${name}`)).toContain('warning[image/official-name]')
    for (const fine of ['image: team/web', 'image: localhost/web'])
      expect(await said(fine)).not.toContain('official-name')
    expect(await said('image: web', '--image', 'web=registry.example.com/web:1')).not.toContain('official-name')
  })

  test('validate prints every mistake to standard error', async () => {
    const { status, stdout, stderr } = await validate(bad)
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr).toContain('did you mean `image`?')
    expect(stderr).toContain('did you mean `restart`?')
    expect(stderr).toMatch(/\n\d errors in 1 file\. `devctl explain [a-z0-9/-]+` tells more\n$/)
  })

  test('validate prints only JSON, to standard output, with `--output json`', async () => {
    const { status, stdout, stderr } = await validate(bad, ['--output', 'json'])
    expect({ status, stderr }).toEqual({ status: 1, stderr: '' })
    expect(JSON.parse(stdout)).toContainEqual({
      code: expect.any(String),
      severity: 'error',
      message: expect.stringContaining('`imagee`'),
      file: 'compose.yaml',
      range: { start: { line: 4, column: 5 }, end: { line: 4, column: 11 } },
      related: [],
      notes: [],
      hint: 'did you mean `image`?',
    })
    expect(await validate(good, ['--output', 'json'])).toEqual({ status: 0, stdout: '[]\n', stderr: '' })
  })

  test('validate prints SARIF with paths from the root of the repository', async () => {
    const folder = makeFolder({ 'app/compose.yaml': bad })
    const { status, stdout } = await run([...usual, '--output', 'sarif'], {
      cwd: join(folder, 'app'),
      env: { GITHUB_WORKSPACE: folder },
    })
    expect(status).toBe(1)
    const [{ tool, results }] = JSON.parse(stdout).runs
    expect(results[0].locations[0].physicalLocation.artifactLocation.uri).toBe('app/compose.yaml')
    for (const { id, help } of tool.driver.rules) expect(help.text).toBe(catalogue.get(id)!.explain.trim())
  })

  test.each([
    ['the Compose file', { 'app/compose.yaml': `${good}    ports: ['8080:80']\n` }, 'app/compose.yaml'],
    [
      'the manifest',
      { 'app/compose.yaml': `${good}    ports: ['8080:80']\n`, 'app/devctl.yml': 'name: a\n' },
      'app/devctl.yml',
    ],
    ['a missing Compose file', { 'app/README.md': '' }, 'app/compose.yaml'],
  ])('validate locates SARIF results without a position in %s', async (_, files, uri) => {
    const folder = makeFolder(files)
    const env = { GITHUB_WORKSPACE: folder }
    const { stdout } = await run(['validate', '--output', 'sarif'], { cwd: join(folder, 'app'), env })
    const [{ results }] = JSON.parse(stdout).runs
    const places = results.flatMap(({ locations }: { locations: readonly object[] }) => locations)
    expect(places).toHaveLength(results.length)
    expect(places).toContainEqual({ physicalLocation: { artifactLocation: { uri }, region: { startLine: 1 } } })
  })

  test('validate prints annotations beside the text in a workflow of GitHub', async () => {
    const folder = makeFolder({ 'app/compose.yaml': bad })
    const options = { cwd: join(folder, 'app'), env: { GITHUB_ACTIONS: 'true', GITHUB_WORKSPACE: folder } }
    const { stdout, stderr } = await run(usual, options)
    expect(stdout).toBe('')
    expect(stderr).toMatch(/^error\[/)
    expect(stderr).toMatch(/^::error file=app\/compose\.yaml,line=4,col=5,endColumn=11,title=[a-z0-9/-]+::.*imagee/m)
  })

  test('validate prints colors only on a terminal, unless the environment disables them', async () => {
    const { main } = await import('../../../cli/main.ts')
    const stderr = async (isTTY: boolean, env: Readonly<Record<string, string>>) => {
      let text = ''
      const write = (part: string) => {
        text += part
      }
      const output = { isTTY, write }
      const cwd = makeFolder({ 'compose.yaml': bad })
      await main(usual, { stdout: output, stderr: output, readStdin: async () => new Uint8Array(), env, cwd })
      return text
    }
    expect(await stderr(true, {})).toContain('\x1b[')
    for (const env of [{ NO_COLOR: '1' }, { CI: 'true' }, { TERM: 'dumb' }] as Record<string, string>[])
      expect(await stderr(true, env)).not.toContain('\x1b[')
    expect(await stderr(false, {})).not.toContain('\x1b[')
  })

  test('validate shows infos only at the log levels `info` and `debug`', async () => {
    const file = 'name: shop\nservices:\n  web:\n    image: nginx:1.27\nvolumes: {unused: {}}\n'
    const shown = async (level: string) => (await validate(file, ['--loglevel', level])).stderr.includes('info[')
    expect(await shown('info')).toBe(true)
    expect(await shown('debug')).toBe(true)
    expect(await shown('warn')).toBe(false)
    expect(await shown('error')).toBe(false)
  })
})

describe('explain', () => {
  const explain = (...argv: string[]) => run(['explain', ...argv], { cwd: makeFolder() })

  test('explain prints the page of a code', async () => {
    const { status, stdout } = await explain('files/no-compose-file')
    expect(status).toBe(0)
    expect(stdout).toBe(`files/no-compose-file (error)\n\n${catalogue.get('files/no-compose-file')!.explain}\n`)
  })

  test('explain prints the page of an error of the platform', async () => {
    const { status, stdout } = await explain('platform/quota')
    expect(status).toBe(0)
    expect(stdout).toBe(`platform/quota (error)\n\n${REFUSAL_PAGES.quota}\n`)
  })

  test('explain lists all codes, or the codes of a family', async () => {
    const all = (await explain()).stdout.trim().split('\n')
    expect(all.length).toBe(catalogue.size + explainedRefusals().length)
    expect(all).toEqual([...all].sort())
    const family = (await explain('files')).stdout.trim().split('\n')
    expect(family.length).toBeGreaterThan(0)
    for (const line of family) expect(line).toMatch(/^files\/[a-z0-9-]+ +(error|warning|info)$/)
  })

  test('explain prints codes as JSON with `--output json`', async () => {
    const json = async (...argv: string[]) => JSON.parse((await explain(...argv, '--output', 'json')).stdout)
    const { severity, explain: text } = catalogue.get('files/no-compose-file')!
    const page = { code: 'files/no-compose-file', severity, text }
    expect(await json('files/no-compose-file')).toEqual(page)
    expect(await json('files')).toContainEqual(page)
    expect(await json()).toHaveLength(catalogue.size + explainedRefusals().length)
  })

  test('explain suggests the nearest code', async () => {
    expect(await explain('files/no-compose-fle')).toEqual({
      status: 1,
      stdout: '',
      stderr:
        'error: unknown diagnostic code `files/no-compose-fle`\n  = help: did you mean `files/no-compose-file`?\n',
    })
    for (const word of ['host-claim', 'volume/host-claim', 'volumes/host-clam', 'host-clam', 'host_claim'])
      expect((await explain(word)).stderr, word).toContain('did you mean `volumes/host-claim`?')
    const several = (await explain('no-effect')).stderr
    expect(several).toContain('`version/no-effect`')
    expect(several).toContain('`ulimits/no-effect`')
    expect((await explain('zzzzzz')).stderr).toContain('`devctl explain` lists all codes')
  })
})

test('the summaries of validate and render count jobs apart from services', async () => {
  const jobs = 'jobs: {a: {image: a, triggers: {manual: true}}, b: {image: b, triggers: {manual: true}}}\n'
  const mixed = makeFolder({ 'compose.yaml': `services: {web: {image: web}}\n${jobs}` })
  expect((await run(['validate'], { cwd: mixed })).stderr).toContain('no errors in 1 service, 2 jobs')
  expect((await run(['render'], { cwd: mixed })).stderr).toContain('from 1 service, 2 jobs')
  const only = makeFolder({ 'compose.yaml': jobs })
  expect((await run(['validate'], { cwd: only })).stderr).toContain('no errors in 2 jobs')
})
