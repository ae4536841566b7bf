import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { PULL_SECRET } from '../../../platform/records/names.ts'
import { eventually } from '../../support/cluster/cluster.ts'
import { RUN } from '../../support/platform/run-name.ts'
import type { Installation } from './installation.ts'

// Users build images on the builder of the platform from their laptops, push them to its registry, and run them.

const BASE = 'registry.devctl.localhost/library/nginx:1.27-alpine'
const OWNER = `pat-${RUN}`
const OTHER = `mel-${RUN}`
/** Dockerfile of the owner, whose image the registry has after the first test. */
const OWN = `FROM ${BASE}\nRUN echo ${RUN} > /secret\n`

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
      await eventually('the registry answers', async () => {
        const { status } = await installed().fetch('https://images.devctl.localhost/v2/')
        return status === 401 ? true : undefined
      })
      // A replica from before the upgrade may have created their namespaces; then the leader gives their Pods a login,
      // within half a minute.
      for (const login of [OWNER, OTHER])
        await eventually(`Pods of ${login} have a login`, async () => {
          const { body } = await installed().cluster.send('GET', `/api/v1/namespaces/${login}/serviceaccounts/default`)
          const secrets: readonly { readonly name: string }[] = JSON.parse(body).imagePullSecrets ?? []
          return secrets.some(({ name }) => name === PULL_SECRET) || undefined
        })
    })

    test('a user builds an image through the platform and pushes it to the registry of the platform', async () => {
      const options = project(OWNER, OWN)
      const build = installed().start(OWNER, '--loglevel info build', options)
      expect([await build.status, build.stderr]).toEqual([
        0,
        expect.stringContaining('building with the platform platform.devctl.localhost'),
      ])
      image = /images\.devctl\.localhost\/\S+@sha256:[0-9a-f]{64}/.exec(build.stdout + build.stderr)![0]
      expect(image).toContain(`images.devctl.localhost/${OWNER}-`)
    })

    test('another user can neither build from the image nor push to its repository', async () => {
      const pull = installed().start(OTHER, 'build', project(OTHER, `FROM ${image}\nRUN cat /secret\n`))
      expect(await pull.status).toBe(1)
      expect(pull.stdout + pull.stderr).not.toContain(`${RUN}\n`)
      const place = image.slice(0, image.lastIndexOf('/'))
      const options = project(OTHER, `FROM ${BASE}\nRUN echo evil > /secret\n`)
      const push = installed().start(OTHER, `build --registry ${place}`, options)
      expect([await push.status, push.stderr]).toEqual([1, expect.stringContaining('images.devctl.localhost')])
      // The image still exists, with what its owner has pushed.
      await installed().ok(OWNER, 'build', project(OWNER, `FROM ${image}\nRUN grep ${RUN} /secret\n`))
    })

    test('Pods run an image only with the login of their namespace', async () => {
      const isTrusted = installed().nodeTrusts()
      const deploy = installed().start(OWNER, 'deploy --wait --timeout 60s', project(OWNER, OWN))
      const status = await deploy.status
      if (!isTrusted) {
        expect([status, deploy.stderr]).toEqual([1, expect.stringContaining('does not trust its certificate')])
        return
      }
      expect([status, deploy.stderr]).toEqual([0, expect.any(String)])
      const [pod] = await podsOf(OWNER)
      const { image: own } = pod!.spec.containers[0]!
      expect(own).toMatch(new RegExp(`^images\\.devctl\\.localhost/${OWNER}-[0-9a-f]{8}/`))
      expect(await kubectl(OWNER, 'exec', `pod/${pod!.metadata.name}`, '--', 'cat', '/secret')).toContain(RUN)

      // The node has the image by now, so a Pod that does not have to ask the registry would run it.
      const taken = (more: string) => {
        const { cwd } = project(OTHER, '')
        writeFileSync(join(cwd, 'compose.yaml'), `name: app\nservices: {web: {image: "${own}"${more}}}\n`)
        return { cwd }
      }
      const cached = installed().start(OTHER, 'deploy --wait --timeout 60s', taken(''))
      expect([await cached.status, cached.stderr]).toEqual([1, expect.stringContaining('image of another namespace')])
      const pulled = installed().start(OTHER, 'deploy --wait --timeout 60s', taken(', pull_policy: always'))
      expect([await pulled.status, pulled.stderr]).toEqual([1, expect.stringMatching(/error\[deploy\/image[a-z-]*\]/)])
      expect((await podsOf(OTHER)).map(({ status }) => status.phase)).not.toContain('Running')
    })

    const kubectl = (namespace: string, ...words: string[]) =>
      installed().cluster.kubectl(`--namespace=${namespace}`, ...words)
    const podsOf = async (namespace: string): Promise<readonly PodObject[]> =>
      JSON.parse(await kubectl(namespace, 'get', 'pods', '--output=json')).items
  })

interface PodObject {
  readonly metadata: { readonly name: string }
  readonly spec: { readonly containers: readonly { readonly image: string }[] }
  readonly status: { readonly phase: string }
}
