import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, test } from 'vitest'
import { root } from '../../support/cases.ts'
import { findCluster } from '../../support/cluster/cluster.ts'
import { wordsOf } from '../../support/docs/blocks.ts'
import { expectShown, sessionsOf } from '../../support/docs/sessions.ts'
import { git } from '../../support/git/git.ts'
import { run } from '../../support/run.ts'
import { few } from '../../support/takes-all.ts'

const found = findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined

/** Namespace that the pages show. */
const SHOWN = 'shop-dev'

/**
 * Blocks marked `cluster=FOLDER` are one session for each page and folder: their commands run in order, in a namespace
 * of their own. A merge waits for those of the README.
 */
describe.skipIf(cluster === undefined)('cluster sessions in the documentation', () => {
  const folder = mkdtempSync(join(tmpdir(), 'devctl-docs-'))
  afterAll(() => {
    cluster?.close()
    rmSync(folder, { recursive: true })
  })

  let count = 0
  for (const { page, folder: where, shown } of few(sessionsOf('cluster'))) {
    test(`${page} shows what its commands print in ${where}`, async () => {
      const namespace = `shop-docs-${process.pid}-${++count}`
      const directory = join(folder, page.replaceAll('/', '-'), 'shop')
      cpSync(join(root, where), directory, { recursive: true })
      // The pages show it in the clone of the repository, whose files git tracks.
      await git(directory, 'init', '--quiet')
      await git(directory, 'add', '--all')
      await cluster!.createNamespace(namespace)
      try {
        for (const one of shown) {
          const [[program, ...args] = []] = wordsOf(one.command)
          const result =
            program === 'kubectl'
              ? { status: 0, stdout: await cluster!.kubectl('--namespace', namespace, ...args), stderr: '' }
              : await run(args, {
                  cwd: directory,
                  env: { KUBECONFIG: process.env.KUBECONFIG ?? '', DEVCTL_NAMESPACE: namespace },
                })
          expectShown(one, result, { [SHOWN]: namespace })
        }
      } finally {
        await cluster!.deleteNamespace(namespace)
      }
    })
  }
})
