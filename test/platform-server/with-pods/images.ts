import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { eventually } from '../../cluster/cluster.ts'
import { RUN } from '../open-platform.ts'
import type { Installation } from './installation.ts'

// Images that people build on the builder of the platform, from their laptops, and push to its own registry.

const BASE = 'registry.devctl.localhost/library/nginx:1.27-alpine'
const OWNER = `pat-${RUN}`
const OTHER = `mel-${RUN}`

export const ownImages = (installed: () => Installation) =>
  describe('the builder and the registry of a platform', () => {
    let image = ''
    const project = (who: string, dockerfile: string) => {
      const cwd = join(installed().folder, `app-${who}`)
      mkdirSync(cwd, { recursive: true })
      writeFileSync(join(cwd, 'Dockerfile'), dockerfile)
      writeFileSync(join(cwd, 'compose.yaml'), 'name: app\nservices: {web: {build: ., ports: ["80:80"]}}\n')
      return { cwd }
    }

    beforeAll(async () => {
      await installed().upgrade('--bundled-registry --registry-size 1Gi')
      for (const login of [OWNER, OTHER]) await installed().person(login)
      await eventually('the registry answers', 60, async () => {
        const { status } = await installed().fetch('https://images.devctl.localhost/v2/')
        return status === 401 ? true : undefined
      })
    }, 120_000)

    test('an image is built through the platform, and is in its registry', async () => {
      const options = project(OWNER, `FROM ${BASE}\nRUN echo ${RUN} > /secret\n`)
      const build = installed().start(OWNER, '--loglevel info build', options)
      expect([await build.status, build.stderr]).toEqual([
        0,
        expect.stringContaining('building with the platform platform.devctl.localhost'),
      ])
      image = /images\.devctl\.localhost\/\S+@sha256:[0-9a-f]{64}/.exec(build.stdout + build.stderr)![0]
      expect(image).toContain(`images.devctl.localhost/${OWNER}-`)
    })

    test('nobody else pulls it, by the same builder, or pushes to its place', async () => {
      const pull = installed().start(OTHER, 'build', project(OTHER, `FROM ${image}\nRUN cat /secret\n`))
      expect(await pull.status).toBe(1)
      expect(pull.stdout + pull.stderr).not.toContain(`${RUN}\n`)
      const place = image.slice(0, image.lastIndexOf('/'))
      const options = project(OTHER, `FROM ${BASE}\nRUN echo evil > /secret\n`)
      const push = installed().start(OTHER, `build --registry ${place}`, options)
      expect([await push.status, push.stderr]).toEqual([1, expect.stringContaining('images.devctl.localhost')])
      // It is there, and still what its owner has pushed.
      await installed().ok(OWNER, 'build', project(OWNER, `FROM ${image}\nRUN grep ${RUN} /secret\n`))
    })

    test('Pods run it where the node believes the certificate; else the deploy says that it does not', async () => {
      const deploy = installed().start(OWNER, 'deploy --wait --timeout 60s', project(OWNER, `FROM ${BASE}\nRUN true\n`))
      const status = await deploy.status
      if (status !== 0) expect(deploy.stderr).toContain('does not trust its certificate')
      else expect(await installed().ok(OWNER, 'ps')).toContain('web')
    })
  })
