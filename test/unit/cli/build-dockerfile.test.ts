import { execFileSync } from 'node:child_process'
import { readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeFolder } from '../../support/cli/folder.ts'
import { run } from '../../support/run.ts'

/** Address where nothing listens; an error that does not name it comes from before the builder is asked. */
const env = { BUILDKIT_HOST: 'tcp://127.0.0.1:9', CI: '1' }

describe('refusals before a builder is asked', () => {
  test.each<[string, readonly string[], string]>([
    ['a context that is not a folder', ['-f', 'Dockerfile', 'nope'], 'error: the context `nope` is not a folder'],
    ['a context that is a file', ['-f', 'Dockerfile', 'Dockerfile'], 'error: the context `Dockerfile` is not a folder'],
    [
      'a Dockerfile without instructions',
      ['-f', 'web.Dockerfile'],
      'error: the Dockerfile `web.Dockerfile` has no instructions\n  = help: begin it with `FROM IMAGE`',
    ],
    [
      'a Dockerfile that is not there',
      ['-f', 'docker/Dockerfile'],
      'error: the Dockerfile `docker/Dockerfile` does not exist\n  = help: check the path after `-f`',
    ],
    [
      'a folder in place of a Dockerfile',
      ['-f', 'Containerfile'],
      'error: the Dockerfile `Containerfile` is a folder\n  = help: name a file in it: `-f Containerfile/Dockerfile`',
    ],
    [
      'a name of Docker Hub that nobody can push',
      ['-f', 'Dockerfile', '--tag', 'r.example.com/tool:1', '--tag', 'tool:1'],
      'error: the image cannot be pushed as `tool:1`, the name of an official image of Docker Hub\n  = help: write `--tag REGISTRY/tool:1`',
    ],
    [
      'a secret of an option whose file is not there',
      ['-f', 'Dockerfile', '--secret', 'id=npm,src=nofile'],
      'error: `--secret` reads `npm` from `nofile`, which is not a file',
    ],
    [
      'a file that stands for a variable',
      ['-f', 'Dockerfile', '--secret', 'type=env,id=npm,src=NO_SUCH'],
      'error: `--secret` reads the variable `NO_SUCH`, which is not set',
    ],
    [
      'a secret of an unknown type',
      ['-f', 'Dockerfile', '--secret', 'type=aws,id=npm'],
      'error: `--secret` is not a secret',
    ],
    [
      'a cache of an unknown type',
      ['-f', 'Dockerfile', '--cache-from', 'type=lokal,src=c'],
      'error: `--cache-from` with `type=lokal,src=c`: `lokal` is not a type of cache',
    ],
    [
      'a cache to export without its folder',
      ['-f', 'Dockerfile', '--export-cache', 'type=local'],
      'error: `--export-cache` with `type=local`: a cache of the type `local` needs `dest`',
    ],
    [
      'a context of a named image that is not there',
      ['-f', 'typo.yaml'],
      'error[build/context-not-found]: the build context `typo` is not a folder',
    ],
    [
      'an additional context that is not there',
      ['-f', 'more.yaml'],
      'error[build/context-not-found]: the build context `asets` is not a folder',
    ],
    [
      'a secret of a service whose file is not there',
      ['-f', 'secret.yaml'],
      'error[build/secret-not-available]: the build secret `npm` takes its value from',
    ],
    ['several tags of services', ['--tag', '1', '--tag', '2'], 'error: `--tag` is given twice'],
    [
      'a further name of a service that nobody can push',
      [],
      'error[image/official-name]: the image of `web` cannot be pushed as `webt:c`, the name of an official image of Docker Hub',
    ],
  ])('`build` refuses %s', async (_, words, message) => {
    const cwd = makeFolder({
      Dockerfile: 'FROM scratch\n',
      'web.Dockerfile': '# syntax=docker/dockerfile:1\n\n',
      'Containerfile/readme': '',
      'secret.yaml':
        'services: {web: {image: "127.0.0.1:9/a:1", build: {context: ., secrets: [npm]}}}\nsecrets: {npm: {file: nofile}}\n',
      'typo.yaml': 'services: {web: {image: "127.0.0.1:9/a:1", build: ./typo}}\n',
      'more.yaml':
        'services: {web: {image: "127.0.0.1:9/a:1", build: {context: ., additional_contexts: {a: ./asets}}}}\n',
      'compose.yaml': 'services: {web: {image: "127.0.0.1:9/web:1", build: {context: ., tags: ["webt:c"]}}}\n',
    })
    const { status, stderr } = await run(['build', ...words], { cwd, env })
    expect(stderr).toContain(message)
    expect(status).not.toBe(0)
    expect(stderr).not.toContain('tcp://127.0.0.1:9')
  })
})

test('a service of an inactive profile is built if it is named', async () => {
  const cwd = makeFolder({
    Dockerfile: 'FROM scratch\n',
    'compose.yaml': 'services: {tools: {image: "127.0.0.1:9/a:1", build: ., profiles: [t]}}\n',
  })
  const { stderr } = await run(['build', 'tools'], { cwd, env })
  expect(stderr).toContain('it is needed for the images of `tools`')
  expect((await run(['build', 'toolz'], { cwd, env })).stderr).toContain('service `toolz` does not exist')
})

test('a secret in the manifest whose file is missing is refused before the build', async () => {
  const cwd = makeFolder({
    Dockerfile: 'FROM scratch\n',
    'devctl.yml':
      'build:\n  tool:\n    context: .\n    image: 127.0.0.1:9/tool:1\n    secrets: {npm: {file: nofile}}\ndeploy: [echo]\n',
  })
  const { status, stderr } = await run(['build', '--no-cache'], { cwd, env: { BUILDKIT_HOST: 'tcp://127.0.0.1:9' } })
  expect(stderr).toContain(
    'error[build/secret-not-available]: the build secret `npm` takes its value from `nofile`, which is not a file\n  --> devctl.yml:5:',
  )
  expect(status).toBe(1)
})

test.skipIf(process.platform === 'win32')(
  '`build --metadata-file` refuses a link, a pipe and a folder before it builds, like `--report`',
  async () => {
    const cwd = makeFolder({ Dockerfile: 'FROM scratch\n', 'target.json': 'mine', 'folder/a': '' })
    symlinkSync('target.json', join(cwd, 'link.json'))
    execFileSync('mkfifo', [join(cwd, 'pipe.json')])
    for (const [name, kind] of [
      ['link.json', 'a symbolic link'],
      ['pipe.json', 'a pipe'],
      ['folder', 'a folder'],
    ] as const) {
      const { status, stderr } = await run(['build', '-f', 'Dockerfile', '--metadata-file', name], { cwd, env })
      expect(stderr).toBe(
        `error: \`${name}\` is ${kind}, and the metadata is not written to it\n  = help: name a new file, or a regular one to replace\n`,
      )
      expect(status).toBe(1)
    }
    expect(readFileSync(join(cwd, 'target.json'), 'utf8')).toBe('mine')
  },
)
