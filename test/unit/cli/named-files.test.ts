import { execFileSync } from 'node:child_process'
import { closeSync, constants, openSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { makeFolder } from '../../support/cli/folder.ts'
import { run } from '../../support/run.ts'

const web = 'name: shop\nservices:\n  web:\n    image: nginx:${TAG:-none}\n'

const held: number[] = []
afterEach(() => {
  for (const file of held.splice(0)) closeSync(file)
})

/** Returns a pipe that holds a text, and has no writer any more: an open end keeps what is in it. */
function pipeOf(folder: string, text: string): string {
  const pipe = join(folder, 'pipe')
  execFileSync('mkfifo', [pipe])
  held.push(openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK))
  execFileSync('sh', ['-c', 'printf %s "$1" > "$2"', 'sh', text, pipe])
  return pipe
}

describe.skipIf(process.platform === 'win32')('pipes', () => {
  test('a Compose file in a pipe is read once', async () => {
    const cwd = makeFolder()
    const { status, stdout, stderr } = await run(['render', '-f', pipeOf(cwd, web)], { cwd })
    expect({ status, stdout }, stderr).toEqual({ status: 0, stdout: expect.stringContaining('image: nginx:none') })
  })

  test('a manifest in a pipe is read once', async () => {
    const cwd = makeFolder({ 'compose.yaml': web })
    const manifest = 'name: from-pipe\ndeploy: {compose: compose.yaml}\n'
    const { status, stdout, stderr } = await run(['render', '-f', pipeOf(cwd, manifest)], { cwd })
    expect({ status, stdout }, stderr).toEqual({ status: 0, stdout: expect.stringContaining('from-pipe') })
  })

  test('an env file in a pipe is read once, also for the manifest', async () => {
    const cwd = makeFolder({ 'compose.yaml': web, 'devctl.yml': 'name: shop-${TAG}\n' })
    const { status, stdout, stderr } = await run(['render', '--env-file', pipeOf(cwd, 'TAG=7\n')], { cwd })
    expect({ status, stdout }, stderr).toEqual({ status: 0, stdout: expect.stringContaining('image: nginx:7') })
    expect(stdout).toContain('shop-7')
  })
})

describe('--project-directory', () => {
  test.each([
    ['nope', 'the folder `nope` does not exist'],
    ['compose.yaml', '`compose.yaml` is not a folder'],
  ])('`--project-directory %s` is refused', async (folder, message) => {
    const cwd = makeFolder({ 'compose.yaml': web })
    const { status, stdout, stderr } = await run(['render', '--project-directory', folder], { cwd })
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr).toContain(`error: ${message}\n`)
  })
})

describe('COMPOSE_ENV_FILES', () => {
  const files = {
    'compose.yaml': web,
    '.env': 'TAG=dotenv\n',
    'a.env': 'TAG=a\n',
    'b.env': 'TAG=b\n',
    'devctl.yml': 'environments: {dev: {namespace: shop, envFiles: [a.env]}, bare: {namespace: shop}}\n',
  }
  test.each([
    ['names files, later ones over earlier ones', 'a.env,b.env', [], 'b'],
    ['may have empty entries', ',a.env,', [], 'a'],
    ['is unset if it is empty', '', [], 'dotenv'],
    ['counts less than --env-file', 'a.env', ['--env-file', 'b.env'], 'b'],
    ['counts less than the files of an environment', 'b.env', ['--environment', 'dev'], 'a'],
    ['counts for an environment without files', 'b.env', ['--environment', 'bare'], 'b'],
  ])('COMPOSE_ENV_FILES %s', async (_, listed, words, tag) => {
    const cwd = makeFolder(files)
    const { status, stdout, stderr } = await run(['render', ...words], { cwd, env: { COMPOSE_ENV_FILES: listed } })
    expect({ status, stdout }, stderr).toEqual({ status: 0, stdout: expect.stringContaining(`image: nginx:${tag}`) })
  })

  test('COMPOSE_ENV_FILES must name files that exist', async () => {
    const cwd = makeFolder(files)
    const { status, stderr } = await run(['render'], { cwd, env: { COMPOSE_ENV_FILES: 'none.env' } })
    expect(status).toBe(1)
    expect(stderr).toContain('the env file `none.env` does not exist')
  })

  test('COMPOSE_ENV_FILES may name files outside the project, because the user names them', async () => {
    const outside = join(makeFolder({ 'c.env': 'TAG=c\n' }), 'c.env')
    const env = { CI: 'true', COMPOSE_ENV_FILES: outside }
    const { status, stdout, stderr } = await run(['render'], { cwd: makeFolder(files), env })
    expect({ status, stdout }, stderr).toEqual({ status: 0, stdout: expect.stringContaining('image: nginx:c') })
  })
})
