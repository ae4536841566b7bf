import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, test } from 'vitest'
import { findBuildkit } from '../../support/buildkit/buildkit.ts'
import { REGISTRY } from '../../support/buildkit/slow-project.ts'
import { root } from '../../support/cases.ts'
import { makeFolder } from '../../support/cli/folder.ts'
import { findCluster } from '../../support/cluster/cluster.ts'
import { wordsOf } from '../../support/docs/blocks.ts'
import { expectShown, sessionsOf } from '../../support/docs/sessions.ts'
import { run } from '../../support/run.ts'
import { few } from '../../support/takes-all.ts'

const address = findBuildkit()
const found = address === undefined ? undefined : findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined

/** The registry and the namespace that the pages show. */
const SHOWN_REGISTRY = 'registry.example.com/team'
const SHOWN_NAMESPACE = 'words-dev'

/**
 * Blocks marked `builder=FOLDER` run in order, with a separate registry that has no image at first. A merge waits for
 * those of docs/tour.md.
 */
describe.skipIf(address === undefined)('builds that the pages show', () => {
  afterAll(() => cluster?.close())

  for (const [index, { page, folder, shown }] of few(sessionsOf('builder')).entries()) {
    const needsCluster = shown.some(({ command }) => /\bdevctl deploy\b/.test(command))
    test.skipIf(needsCluster && cluster === undefined)(`${page} shows the output of builds in ${folder}`, async () => {
      // The environment is named after the folder.
      const directory = join(makeFolder(), 'words')
      cpSync(join(root, folder), directory, { recursive: true })
      const names = {
        [SHOWN_REGISTRY]: `${REGISTRY}/docs-${process.pid}-${index}`,
        [SHOWN_NAMESPACE]: `words-docs-${process.pid}-${index}`,
      }
      const namespace = names[SHOWN_NAMESPACE]!
      if (needsCluster) await cluster!.createNamespace(namespace)
      const env = {
        DEVCTL_HOME: join(directory, '.home'),
        BUILDKIT_HOST: address!,
        SIGNING_KEY: 'a key',
        ...(needsCluster && { KUBECONFIG: process.env.KUBECONFIG ?? '', DEVCTL_NAMESPACE: namespace }),
      }
      try {
        for (const one of shown) {
          const [[, ...args] = []] = wordsOf(one.command.replaceAll(SHOWN_REGISTRY, names[SHOWN_REGISTRY]!))
          expectShown(one, await run(args, { cwd: directory, env }), names)
        }
      } finally {
        if (needsCluster) await cluster!.deleteNamespace(namespace)
      }
    })
  }
})
