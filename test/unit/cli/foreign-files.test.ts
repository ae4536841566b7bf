import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { run } from '../../support/run.ts'

const work = mkdtempSync(join(tmpdir(), 'devctl-foreign-'))
afterAll(() => rmSync(work, { recursive: true, force: true }))

const FILES: readonly (readonly [path: string, text: string, tool: string, hint: string])[] = [
  ['skaffold.yaml', 'apiVersion: skaffold/v4beta11\nkind: Config\n', 'Skaffold', 'devctl init'],
  ['Tiltfile', "docker_build('example/api', '.')\n", 'Tilt', 'devctl init'],
  ['score.yaml', 'apiVersion: score.dev/v1b1\nmetadata: {name: web}\n', 'Score', 'score-compose generate score.yaml'],
  ['devspace.yaml', 'version: v2beta1\ndev: {}\n', 'DevSpace', 'devctl init'],
  ['.devcontainer/devcontainer.json', '{"image": "golang"}\n', 'dev containers', 'dockerComposeFile'],
]

describe.each(FILES)('%s', (path, text, tool, hint) => {
  const cwd = join(work, tool)
  mkdirSync(dirname(join(cwd, path)), { recursive: true })
  writeFileSync(join(cwd, path), text)
  const said = `\`${path}\` is a file of ${tool}, which devctl does not read`

  test('a command that finds only this file says how to start from it', async () => {
    for (const command of ['validate', 'render']) {
      const { status, stderr } = await run([command], { cwd })
      expect({ command, status }).toEqual({ command, status: 1 })
      expect(stderr).toContain(said)
      expect(stderr).toContain(hint)
    }
  })

  test('-f and migrate refuse this file, and say how to start from it', async () => {
    for (const args of [
      ['validate', '-f', path],
      ['migrate', path],
    ]) {
      const { status, stderr } = await run(args, { cwd })
      expect({ args, status }).toEqual({ args, status: 1 })
      expect(stderr).toContain(said)
      expect(stderr).toContain(hint)
    }
  })
})

test('a Compose file wins over files of other tools, without a message', async () => {
  const cwd = join(work, 'both')
  mkdirSync(cwd)
  writeFileSync(join(cwd, 'Tiltfile'), "docker_compose('compose.yaml')\n")
  writeFileSync(join(cwd, 'compose.yaml'), 'services:\n  web:\n    image: nginx\n')
  expect((await run(['validate'], { cwd })).stderr).not.toContain('Tilt')
})

test('okteto-stack.yml is a Compose file where there is none with a default name', async () => {
  const cwd = join(work, 'stack')
  mkdirSync(cwd)
  writeFileSync(join(cwd, 'okteto-stack.yml'), 'services:\n  web:\n    image: nginx\n')
  expect(await run(['validate'], { cwd })).toMatchObject({ status: 0, stderr: 'no errors in 1 service\n' })
  writeFileSync(join(cwd, 'compose.yaml'), 'services:\n  web:\n    image: nginx\n  db:\n    image: redis\n')
  expect(await run(['validate'], { cwd })).toMatchObject({ status: 0, stderr: 'no errors in 2 services\n' })
})
