import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ENGINE, findBuildkit, findEngineAddress } from '../../support/buildkit/buildkit.ts'
import { REGISTRY } from '../../support/buildkit/slow-project.ts'
import { makeFolder, write } from '../../support/cli/folder.ts'
import { run } from '../../support/run.ts'
import { few, longTest } from '../../support/takes-all.ts'

const buildkit = findBuildkit()
const engine = findEngineAddress()

const COMPOSE = `services:
  base:
    build: base
  api:
    build: {context: api, additional_contexts: {base: service:base}}
  web:
    build: {context: web, additional_contexts: {api: service:api, base: service:base}}
`

const MANIFEST = `build:
  tools: ./tools
  top:
    context: ./top
    depends_on: tools
    args: ["FROM_IMAGE=\${DEVCTL_BUILD_TOOLS_IMAGE}"]
`

/** Small image with a shell. */
const SHELL = 'FROM scratch\nCOPY --from=busybox:1.37 /bin/busybox /bin/sh\n'

/** Creates a project whose images are built on each other; some have unique content in a file. */
const project = (): string =>
  makeFolder({
    'compose.yaml': COMPOSE,
    'devctl.yml': MANIFEST,
    'base/Dockerfile': `${SHELL}ENV FROM_BASE=yes\nRUN echo ${Math.random()} > /base\n`,
    'api/Dockerfile': 'FROM base\nRUN test "$FROM_BASE" = yes && read line < /base && echo $line > /api\n',
    'web/Dockerfile': 'FROM api\nCOPY --from=base /base /again\nRUN read a < /again && read b < /api && test $a = $b\n',
    'tools/Dockerfile': `${SHELL}RUN echo ${Math.random()} > /tools\n`,
    'top/Dockerfile': 'ARG FROM_IMAGE\nFROM $FROM_IMAGE\nRUN test -s /tools\n',
  })

async function built(folder: string, env: Readonly<Record<string, string>>, ...options: readonly string[]) {
  const temporary = join(folder, '.tmp')
  mkdirSync(temporary, { recursive: true })
  const result = await run(['build', '--push=false', '--name', 'unpushed', ...options], {
    cwd: folder,
    env: { DEVCTL_HOME: join(folder, '.home'), TMPDIR: temporary, ...env },
  })
  expect(readdirSync(temporary)).toEqual([])
  return result
}

describe.skipIf(buildkit === undefined)('`build --push=false`', () => {
  const env = { BUILDKIT_HOST: buildkit! }

  // The second case sets no registry.
  const places: readonly (readonly [string, readonly string[]])[] = [
    ['with a registry', ['--registry', `${REGISTRY}/unpushed-${process.pid}`]],
    ['without a registry', []],
  ]
  test.each(few(places))('`build --push=false` builds dependent images and pushes none: %s', async (_, options) => {
    const { status, stdout, stderr } = await built(project(), env, ...options)
    expect(status, stderr).toBe(0)
    expect(stdout).toBe('')
    expect(stderr).toContain('built and not pushed')
    for (const name of ['base', 'api', 'web', 'tools', 'top']) {
      const answer = await fetch(`http://${REGISTRY}/v2/unpushed-${process.pid}/unpushed-${name}/tags/list`)
      expect(answer.status).toBe(404)
    }
  })

  longTest('`build --push=false` reports that it does not write the metadata file without digests', async () => {
    const folder = project()
    const { status, stdout, stderr } = await built(folder, env, '--metadata-file', 'images.json')
    expect(status, stderr).toBe(0)
    expect(stdout).toBe('')
    expect(stderr).toContain('built and not pushed')
    expect(stderr).toContain('no image was pushed, so none has a digest, and `images.json` is not written')
    expect(readdirSync(folder)).not.toContain('images.json')
    expect(stderr).not.toContain('registry.local.devctl')
  })

  longTest('`build --push=false` leaves no temporary files if a build fails', async () => {
    const folder = project()
    write(folder, { 'api/Dockerfile': 'FROM base\nRUN exit 3\n' })
    const { status, stderr } = await built(folder, env)
    expect(status).toBe(1)
    expect(stderr).toContain('error[build/step-failed]: the build of `api` failed')
  })
})

describe.skipIf(engine === undefined)('`build --push=false` with a Docker Engine', () => {
  test('`build --push=false` with a Docker Engine reports that dependent images need a registry', async () => {
    const { status, stderr } = await built(project(), { DOCKER_HOST: engine!.slice(ENGINE.length) }, 'api')
    expect(status).toBe(1)
    expect(stderr).toContain('hands an image to another build only by a registry; push it, or set `BUILDKIT_HOST`')
  })
})

test.skipIf(buildkit === undefined)('`build -f Dockerfile` pushes the image under every `--tag`', async () => {
  const folder = makeFolder({ Dockerfile: `FROM scratch\nLABEL once=${Math.random()}\n` })
  const names = ['one:1', 'two:2'].map(name => `${REGISTRY}/tags-${process.pid}/${name}`)
  const words = ['build', '-f', 'Dockerfile', ...names.flatMap(name => ['--tag', name])]
  const { status, stderr } = await run(words, { cwd: folder, env: { BUILDKIT_HOST: buildkit! } })
  expect(status, stderr).toBe(0)
  for (const [name, tag] of [['one', '1'] as const, ['two', '2'] as const]) {
    const answer = await fetch(`http://${REGISTRY}/v2/tags-${process.pid}/${name}/tags/list`)
    expect(await answer.json()).toMatchObject({ tags: [tag] })
  }
})
