import { execFile, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { archive } from '../../../scripts/release/archive.mjs'
import { checksums } from '../../../scripts/release/checksums.mjs'
import { root } from '../../support/cases.ts'
import { evaluate, holds, type Step } from '../../support/channels/github-action.ts'
import { write } from '../../support/cli/folder.ts'
import { program } from '../../support/program.ts'

// Runs the shell steps of the integrations as their vendors do, with an example and a bare repository. The release that
// they install has a program that starts the built devctl.

const folder = mkdtempSync(join(tmpdir(), 'devctl-integrations-'))
const installer = join(root, 'integrations/install.sh')
const releases = join(folder, 'releases')
const server = createServer(({ url = '' }, response) => {
  const path = join(releases, url)
  if (existsSync(path)) response.end(readFileSync(path))
  else response.writeHead(404).end()
})
let downloads = ''

beforeAll(async () => {
  write(folder, { 'content/devctl': `#!/bin/sh\nexec '${process.execPath}' -- '${program()}' "$@"\n` })
  spawnSync('chmod', ['755', join(folder, 'content/devctl')])
  for (const name of ['latest/download', 'download/v0.1.0', 'download/v0.2.0']) {
    const release = join(releases, name)
    mkdirSync(release, { recursive: true })
    for (const processor of ['amd64', 'arm64'])
      archive(join(folder, 'content'), join(release, `devctl-linux-${processor}.tar.gz`))
    const archives = ['devctl-linux-amd64.tar.gz', 'devctl-linux-arm64.tar.gz']
    write(release, { SHA256SUMS: checksums(release, archives) })
  }
  // The archives of this release have been replaced.
  for (const processor of ['amd64', 'arm64'])
    write(releases, { [`download/v0.2.0/devctl-linux-${processor}.tar.gz`]: 'something else' })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  downloads = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.close()
  rmSync(folder, { recursive: true, force: true })
})

interface Ran {
  readonly status: number
  readonly output: string
}

/** Runs a command beside the server of this process. */
const execute = (
  file: string,
  words: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<Ran> =>
  new Promise(resolve =>
    execFile(file, words, { cwd, env: { HOME: folder, PATH: process.env.PATH!, ...env } }, (error, stdout, stderr) =>
      resolve({ status: error === null ? 0 : Number(error.code), output: stdout + stderr }),
    ),
  )

const project = (name: string, files: Readonly<Record<string, string>> = {}) => {
  const path = join(folder, name)
  write(path, { 'compose.yaml': 'name: shop\nservices: {web: {image: "nginx:1.27"}}\n', ...files })
  return path
}
const bare = (name: string) => {
  const path = join(folder, name)
  spawnSync('git', ['init', '--quiet', '--bare', path])
  return path
}
const committed = (repository: string) =>
  spawnSync('git', ['--git-dir', repository, 'log', '--format=%an <%ae>', '--name-only'], { encoding: 'utf8' }).stdout

describe('install.sh', () => {
  const install = (...words: readonly string[]) =>
    execute('sh', [installer, ...words], folder, { DEVCTL_DOWNLOADS: downloads })

  test('install.sh installs the newest release, and the plugin of kubectl', async () => {
    expect(await install()).toMatchObject({ status: 0, output: expect.stringMatching(/^devctl \S+ is installed in /) })
    const { status, output } = await execute(join(folder, '.local/bin/kubectl-devctl'), ['--version'], folder, {})
    expect({ status, output }).toEqual({ status: 0, output: expect.stringMatching(/^devctl \d/) })
    expect(readlinkSync(join(folder, '.local/bin/kubectl-devctl'))).toBe('devctl')
  })

  test('install.sh replaces an installed version', async () => {
    write(folder, { 'again/devctl': 'old' })
    expect((await install('v0.1.0', join(folder, 'again'))).status).toBe(0)
    expect(readFileSync(join(folder, 'again/devctl'), 'utf8')).toContain('exec')
  })

  test('install.sh installs in a relative folder', async () => {
    const { status, output } = await install('0.1.0', 'relative/bin')
    const where = join(folder, 'relative/bin')
    expect({ status, output }).toEqual({ status: 0, output: expect.stringContaining(`is installed in ${where}\n`) })
    expect(await execute(join(where, 'devctl'), ['--version'], folder, {})).toMatchObject({ status: 0 })
  })

  test.each(['devctl', 'kubectl-devctl'])('install.sh refuses a folder called %s', async name => {
    const where = join(folder, `with-${name}`)
    write(where, { [`${name}/file`]: 'mine' })
    expect(await install('0.1.0', where)).toEqual({
      status: 1,
      output: expect.stringContaining(`error: ${join(where, name)} is a folder\n`),
    })
    expect(readdirSync(where)).toEqual([name])
    expect(readdirSync(join(where, name))).toEqual(['file'])
  })

  test('install.sh refuses an archive with another checksum', async () => {
    const { status, output } = await install('0.2.0', join(folder, 'refused'))
    expect({ status, output }).toEqual({ status: 1, output: expect.stringContaining('does not have the checksum') })
    expect(existsSync(join(folder, 'refused'))).toBe(false)
  })

  test('install.sh reports a release that does not exist', async () => {
    const { status, output } = await install('9.9.9', join(folder, 'refused'))
    expect({ status, output }).toEqual({
      status: 1,
      output: expect.stringContaining(`error: could not download ${downloads}/download/v9.9.9/SHA256SUMS`),
    })
  })
})

describe('the action of GitHub', () => {
  const action = parse(readFileSync(join(root, 'integrations/github/action.yml'), 'utf8'))
  const steps = action.runs.steps as readonly Step[]

  /** Runs the steps as a runner does, until one fails. */
  async function runAction(name: string, inputs: Readonly<Record<string, string>>, cwd: string): Promise<Ran> {
    const temporary = join(folder, `runner-${name}`)
    write(temporary, { path: '' })
    const defaults = Object.entries(action.inputs as Record<string, { default: string }>)
    const values = {
      ...Object.fromEntries(defaults.map(([key, input]) => [`inputs.${key}`, input.default])),
      'inputs.downloads': downloads,
      'github.actor': 'octocat',
      ...Object.fromEntries(Object.entries(inputs).map(([key, value]) => [`inputs.${key}`, value])),
    }
    let output = ''
    for (const [at, step] of steps.entries()) {
      if (!holds(step.if, values)) continue
      const script = join(temporary, `step-${at}.sh`)
      write(temporary, { [`step-${at}.sh`]: step.run! })
      const env = Object.fromEntries(
        Object.entries(step.env ?? {}).map(([key, value]) => [key, evaluate(value, values)]),
      )
      const added = readFileSync(join(temporary, 'path'), 'utf8').split('\n').filter(Boolean)
      const runner = {
        PATH: [...added, process.env.PATH].join(delimiter),
        GITHUB_ACTIONS: 'true',
        GITHUB_WORKSPACE: cwd,
        GITHUB_ACTION_PATH: join(root, 'integrations/github'),
        GITHUB_PATH: join(temporary, 'path'),
        RUNNER_TEMP: temporary,
      }
      const where = join(cwd, evaluate(step['working-directory'] ?? '.', values))
      const ran = await execute('bash', ['--noprofile', '--norc', '-eo', 'pipefail', script], where, {
        ...runner,
        ...env,
      })
      output += ran.output
      if (ran.status !== 0) return { status: ran.status, output }
    }
    return { status: 0, output }
  }

  test('the action has the keys of the reference, and documents its inputs', () => {
    expect(Object.keys(action)).toEqual(['name', 'description', 'author', 'branding', 'inputs', 'runs'])
    expect(action.runs.using).toBe('composite')
    for (const [name, input] of Object.entries<object>(action.inputs))
      expect(input, name).toEqual({ description: expect.stringMatching(/\w/), default: expect.any(String) })
    const known = ['name', 'if', 'shell', 'working-directory', 'env', 'run']
    for (const step of steps) expect(known).toEqual(expect.arrayContaining(Object.keys(step)))
    // Values of users reach scripts as variables, never as code.
    for (const { run, shell } of steps) expect([run, shell]).toEqual([expect.not.stringContaining('${{'), 'bash'])
  })

  test('the action installs the release, and reports mistakes as annotations', async () => {
    const wrong = project('github/app', { 'compose.yaml': 'name: shop\nservices: {web: {imag: nginx}}\n' })
    const ran = await runAction('validate', { 'working-directory': 'app' }, join(wrong, '..'))
    expect(ran.output).toContain('is installed in')
    expect(ran).toMatchObject({ status: 1, output: expect.stringMatching(/^::error file=app\/compose\.yaml,line=2,/m) })
  })

  test('the action passes arguments with spaces, and runs no code in them', async () => {
    const cwd = project('github-arguments')
    const words = ['--output-dir', 'my manifests', '--namespace', '$(touch x)']
    const ran = await runAction('render', { command: 'render', arguments: words.join('\n') }, cwd)
    expect(ran.output).toContain('`$(touch x)`')
    expect(existsSync(join(cwd, 'x'))).toBe(false)
    const right = await runAction('again', { command: 'render', arguments: '--output-dir\nmy manifests' }, cwd)
    expect(right.status, right.output).toBe(0)
    expect(existsSync(join(cwd, 'my manifests'))).toBe(true)
  })

  test('the action publishes in the name of the user who started the run', async () => {
    const repository = bare('github.git')
    const words = ['--repository', repository, '--path', 'shop', '--namespace', 'dev', '--domain', 'example.com']
    const ran = await runAction(
      'publish',
      { command: 'publish', arguments: words.join('\n') },
      project('github-publish'),
    )
    expect(ran.status, ran.output).toBe(0)
    expect(committed(repository)).toMatch(/^octocat <octocat@users\.noreply\.github\.com>\n\nshop\//)
  })

  test('the action can only install, or use the devctl on the PATH', async () => {
    const cwd = project('github-install')
    const installed = await runAction('install', { command: '' }, cwd)
    expect(installed).toEqual({ status: 0, output: expect.stringMatching(/^devctl \S+ is installed in .*\n$/) })
    const missing = await runAction('none', { version: 'installed' }, cwd)
    expect(missing.output).not.toContain('is installed in')
  })
})

describe('the component of GitLab', () => {
  const [header, body] = parseAllDocuments(
    readFileSync(join(root, 'integrations/gitlab/templates/devctl.yml'), 'utf8'),
  ).map(document => document.toJS())

  /** Runs the job as a runner does: all lines in one shell, in the folder of the checkout. */
  function runJob(inputs: Readonly<Record<string, string>>, cwd: string): Promise<Ran> {
    const defaults = Object.entries(header.spec.inputs as Record<string, { default: string }>)
    const values: Record<string, string> = {
      ...Object.fromEntries(defaults.map(([key, input]) => [key, input.default])),
      ...inputs,
    }
    const fill = (text: string) => text.replace(/\$\[\[ inputs\.(\S+) \]\]/g, (_, key: string) => values[key]!)
    const [job] = Object.values(body) as [{ script: readonly string[]; variables: Record<string, string> }]
    const known: Record<string, string> = { GITLAB_USER_NAME: 'Ann', GITLAB_USER_EMAIL: 'ann@example.com' }
    const env = Object.fromEntries(
      Object.entries(job.variables).map(([key, value]) => [
        key,
        fill(value).replace(/\$(\w+)/g, (_, name) => known[name]!),
      ]),
    )
    const path = `${join(folder, 'content')}${delimiter}${process.env.PATH}`
    return execute('bash', ['-eo', 'pipefail', '-c', job.script.join('\n')], cwd, {
      ...env,
      PATH: path,
      GITLAB_CI: 'true',
    })
  }

  test('the component has the keys of the reference, and documents its inputs', () => {
    expect(Object.keys(header)).toEqual(['spec'])
    for (const [name, input] of Object.entries<object>(header.spec.inputs))
      expect(input, name).toEqual({ description: expect.stringMatching(/\w/), default: expect.any(String) })
    expect(Object.keys(body)).toEqual(['$[[ inputs.job ]]'])
    const [job] = Object.values<{ readonly script: readonly string[] }>(body)
    expect(Object.keys(job!)).toEqual(['stage', 'image', 'variables', 'script'])
    // Values of users reach the script as variables, never as code.
    expect(job!.script.join('\n')).not.toContain('$[[')
    const used = [...JSON.stringify(body).matchAll(/\$\[\[ inputs\.(\S+) \]\]/g)].map(([, name]) => name)
    expect([...new Set(used)].sort()).toEqual(Object.keys(header.spec.inputs).sort())
  })

  test('the job validates a folder of the checkout', async () => {
    const wrong = project('gitlab/app', { 'compose.yaml': 'name: shop\nservices: {web: {imag: nginx}}\n' })
    expect(await runJob({ directory: 'app' }, join(wrong, '..'))).toMatchObject({
      status: 1,
      output: expect.stringContaining('error[services/unknown-key]'),
    })
    expect((await runJob({}, project('gitlab-right'))).status).toBe(0)
  })

  test('the job publishes in the name of the user who started the pipeline', async () => {
    const repository = bare('gitlab.git')
    const words = `--repository ${repository} --path shop --namespace dev --domain example.com`
    const ran = await runJob({ command: 'publish', arguments: words }, project('gitlab-publish'))
    expect(ran.status, ran.output).toBe(0)
    expect(committed(repository)).toMatch(/^Ann <ann@example\.com>\n\nshop\//)
  })
})

describe('the hooks of pre-commit', () => {
  interface Hook {
    readonly id: string
    readonly entry: string
    readonly language: string
    readonly files: string
    readonly pass_filenames: boolean
  }
  const hooks: readonly Hook[] = parse(readFileSync(join(root, '.pre-commit-hooks.yaml'), 'utf8'))

  test('the hooks have the keys of the reference', () => {
    const optional = ['description', 'files', 'pass_filenames']
    for (const hook of hooks) {
      expect(Object.keys(hook)).toEqual(expect.arrayContaining(['id', 'name', 'entry', 'language']))
      expect(['id', 'name', 'entry', 'language', ...optional]).toEqual(expect.arrayContaining(Object.keys(hook)))
    }
    expect(hooks.map(({ id, language }) => [id, language])).toEqual([
      ['devctl-validate', 'system'],
      ['devctl-validate-docker', 'docker_image'],
    ])
  })

  test('the hooks run for manifests and Compose files', () => {
    const yes = ['compose.yaml', 'app/docker-compose.prod.yml', 'devctl.yml', '.devctl/devctl.prod.yaml', 'app/.env']
    const no = ['src/composer.ts', 'docs/compose.md', 'k8s/web.yaml', 'package.json']
    for (const { files } of hooks) expect([...yes, ...no].filter(path => new RegExp(files).test(path))).toEqual(yes)
  })

  test.each(hooks)('$id fails for a mistake, and passes without', async ({ entry, language, pass_filenames }) => {
    expect(pass_filenames).toBe(false)
    const PATH = `${join(folder, 'content')}${delimiter}${process.env.PATH}`
    const wrong = project('hook-wrong', { 'compose.yaml': 'name: shop\nservices: {web: {imag: nginx}}\n' })
    // The first word of the other kind is an image, which Docker starts with the rest.
    const command = language === 'system' ? entry : entry.replace(/^\S+ /, '')
    expect((await execute('sh', ['-c', command], wrong, { PATH })).status).toBe(1)
    expect((await execute('sh', ['-c', command], project('hook-right'), { PATH })).status).toBe(0)
  })
})
