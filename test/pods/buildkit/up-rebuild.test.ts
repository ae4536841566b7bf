import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findBuildkit } from '../../support/buildkit/buildkit.ts'
import { write } from '../../support/cli/folder.ts'
import { eventually, findCluster } from '../../support/cluster/cluster.ts'
import { type DevelopmentPlace, openDevelopment } from '../develop/development.ts'

const found = findCluster()
const builder = found && findBuildkit()
const cluster = found !== undefined && builder !== undefined && (await found.hasNodes()) ? found : undefined

const COMPOSE = `name: shop
services:
  api:
    build: .
    volumes: ["./src:/app/src"]
    develop: {watch: [{path: Dockerfile, action: rebuild}]}
    stop_grace_period: 0s
`
/**
 * Returns a Dockerfile whose program prints everything an image decides: entrypoint, command, user, folder and
 * environment.
 */
const dockerfile = (word: string, user: number) => `FROM busybox:1.37
WORKDIR /app/${word}
ENV GREETING=${word}
USER ${user}:1000
ENTRYPOINT ["sh", "-c", "echo entrypoint ${word}, $0, $GREETING, $(id -u), $(pwd); exec sleep 1000"]
CMD ["command ${word}"]
`
const said = (word: string, user: number) =>
  `api | entrypoint ${word}, command ${word}, ${word}, ${user}, /app/${word}\n`

describe.skipIf(cluster === undefined)('an image that `develop.watch` rebuilds', () => {
  let place: DevelopmentPlace

  beforeAll(async () => {
    place = await openDevelopment(cluster!, 'up-rebuild', {
      BUILDKIT_HOST: builder!,
      DEVCTL_REGISTRY: '127.0.0.1:5000/rebuild',
    })
    write(place.folder, { 'compose.yaml': COMPOSE, Dockerfile: dockerfile('one', 1001), 'src/a.txt': 'a\n' })
  })
  afterAll(() => place?.close())

  test('a rebuilt image gives the container its entrypoint, command, user, folder and environment', async () => {
    const up = place.devctl('up')
    const until = (text: string) =>
      eventually(`it says ${text}`, async () => up.stderr.includes(text) || undefined, {
        explain: async () => up.stderr,
      })
    await until(said('one', 1001))
    writeFileSync(join(place.folder, 'Dockerfile'), dockerfile('two', 1002))
    await until(said('two', 1002))
    expect(up.stderr).toContain('rebuild: Dockerfile changed')
    const { status } = await up.interrupt('SIGTERM')
    expect([0, 130, 143]).toContain(status)
  })
})
