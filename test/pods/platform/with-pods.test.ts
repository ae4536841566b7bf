import { afterAll, beforeAll, describe } from 'vitest'
import { RUN } from '../../support/platform/run-name.ts'
import { TAKES_ALL } from '../../support/takes-all.ts'
import { ciWay } from './ci-way.ts'
import { forks } from './forks.ts'
import { ownImages } from './images.ts'
import { findSurroundings, Installation } from './installation.ts'
import { runCanaries } from './run-canaries.ts'
import { sleepAndWake } from './sleep.ts'
import { wholeWay } from './whole-way.ts'

// These tests need Pods. They share a platform with its own registry and builder, in a cluster with nodes and a forge.

const around = await findSurroundings()

// Test files run in parallel, and a cluster has one platform: all installations are in this file. A merge waits for the
// second one. `install-options` also tests the first, as an operator types it, and its removal on an API server.
if (TAKES_ALL) wholeWay()

describe.skipIf(around === undefined)('a platform with Pods', () => {
  let installation: Installation
  const installed = () => installation

  beforeAll(async () => {
    installation = new Installation(around!)
    await installation.install(`--registry registry.devctl.localhost/people-${RUN} --builders 1 --builder-size 2Gi`)
  })
  afterAll(() => installation?.close())

  ciWay(installed)
  sleepAndWake(installed)
  runCanaries(installed, around?.forge.address ?? '', around?.forge.token ?? '')
  // `gitea-hooks` also tests, on an API server, which requests wait for approval.
  if (TAKES_ALL) forks(installed)
  // These tests come last, because they give the platform another registry. `registry` also tests, on an API server,
  // who may pull and push.
  if (TAKES_ALL) ownImages(installed)
})
