import { execFileSync, spawn } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeFolder } from '../../support/cli/folder.ts'
import { run } from '../../support/run.ts'

const web = 'name: shop\nservices:\n  web:\n    image: nginx:${TAG:-none}\n'

/** Returns a pipe that gets a text when it is opened, once. */
function pipeOf(folder: string, text: string): string {
  const pipe = join(folder, 'pipe')
  execFileSync('mkfifo', [pipe])
  spawn('sh', ['-c', 'printf %s "$1" > "$2"', 'sh', text, pipe], { stdio: 'ignore' })
  return pipe
}

describe.skipIf(process.platform === 'win32')('a pipe is read once', () => {
  test('as a Compose file', async () => {
    const cwd = makeFolder()
    const { status, stdout, stderr } = await run(['render', '-f', pipeOf(cwd, web)], { cwd })
    expect({ status, stdout }, stderr).toEqual({ status: 0, stdout: expect.stringContaining('image: nginx:none') })
  })

  test('as a manifest', async () => {
    const cwd = makeFolder({ 'compose.yaml': web })
    const manifest = 'name: from-pipe\ndeploy: {compose: compose.yaml}\n'
    const { status, stdout, stderr } = await run(['render', '-f', pipeOf(cwd, manifest)], { cwd })
    expect({ status, stdout }, stderr).toEqual({ status: 0, stdout: expect.stringContaining('from-pipe') })
  })

  test('as an env file, of which the manifest has the variables, too', async () => {
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
  ])('%s is refused', async (folder, message) => {
    const cwd = makeFolder({ 'compose.yaml': web })
    const { status, stdout, stderr } = await run(['render', '--project-directory', folder], { cwd })
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr).toContain(`error: ${message}\n`)
  })
})
