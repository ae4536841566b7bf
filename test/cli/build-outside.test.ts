import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { run } from '../run.ts'
import { makeFolder, write } from './folder.ts'

/** A checkout, and files beside it that are not its own. */
const folder = () =>
  makeFolder({
    'app/.git/HEAD': 'ref: refs/heads/main\n',
    'app/Dockerfile': 'FROM busybox:1.37\n',
    'private/Dockerfile': 'FROM busybox:1.37\n',
    'private/key': 'a key\n',
  })

/** Nothing listens there: what is refused before the builder is asked does not name it. */
const env = { BUILDKIT_HOST: 'tcp://127.0.0.1:9', CI: '1' }

describe('what a builder would be sent from outside the project is refused', () => {
  test.each<[string, Readonly<Record<string, string>>, readonly string[]]>([
    ['the context', { 'compose.yaml': 'services: {web: {build: ../private}}\n' }, []],
    ['the context, with --tag', { 'compose.yaml': 'services: {web: {build: ../private}}\n' }, ['--tag', '1']],
    [
      'the context of an image that has a name',
      { 'compose.yaml': 'services: {web: {image: "127.0.0.1:9/web:1", build: ../private}}\n' },
      [],
    ],
    [
      'an additional context',
      {
        'compose.yaml':
          'services: {web: {image: "127.0.0.1:9/web:1", build: {context: ., additional_contexts: {a: ../private}}}}\n',
      },
      [],
    ],
    [
      'the Dockerfile',
      {
        'compose.yaml':
          'services: {web: {image: "127.0.0.1:9/web:1", build: {context: ., dockerfile: ../private/Dockerfile}}}\n',
      },
      [],
    ],
    [
      'the context of an image of the manifest',
      { 'devctl.yml': 'build:\n  web: {context: ../private}\ndeploy: [echo]\n' },
      [],
    ],
    [
      'a secret of an image of the manifest',
      { 'devctl.yml': 'build:\n  web: {context: ., secrets: {key: ../private/key}}\ndeploy: [echo]\n' },
      [],
    ],
  ])('%s', async (_, files, args) => {
    const cwd = folder()
    write(join(cwd, 'app'), files)
    const { status, stderr } = await run(['build', '--registry', '127.0.0.1:9', ...args], {
      cwd: join(cwd, 'app'),
      env,
    })
    expect({ status, stderr }).toMatchObject({ status: 1, stderr: expect.stringContaining('error[files/outside]') })
    expect(stderr).not.toContain('no connection')
  })
})
