import { afterAll, beforeAll, describe } from 'vitest'
import { RUN } from './open-platform.ts'
import { ciWay } from './with-pods/ci-way.ts'
import { forks } from './with-pods/forks.ts'
import { ownImages } from './with-pods/images.ts'
import { findSurroundings, Installation } from './with-pods/installation.ts'
import { runCanaries } from './with-pods/run-canaries.ts'
import { sleepAndWake } from './with-pods/sleep.ts'

// One platform with a registry and a builder of its own, in a cluster with nodes and a forge: what takes Pods to be seen.

const around = await findSurroundings()

describe.skipIf(around === undefined)('a platform with Pods', () => {
  let installation: Installation
  const installed = () => installation

  beforeAll(async () => {
    installation = new Installation(around!)
    await installation.install(`--registry registry.devctl.localhost/people-${RUN} --builders 1 --builder-size 2Gi`)
  }, 300_000)
  afterAll(() => installation?.close(), 120_000)

  ciWay(installed)
  sleepAndWake(installed)
  runCanaries(installed, around?.forge.address ?? '', around?.forge.token ?? '')
  forks(installed)
  // The last, as the platform has another registry then.
  ownImages(installed)
})
