import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { findBuildkit } from '../../support/buildkit/buildkit.ts'
import { REGISTRY } from '../../support/buildkit/slow-project.ts'
import { root } from '../../support/cases.ts'
import { untilAnswers } from '../../support/cluster/application.ts'
import { findCluster } from '../../support/cluster/cluster.ts'
import { DOMAIN } from '../../support/cluster/examples.ts'
import { withProject } from '../../support/cluster/project.ts'
import { run } from '../../support/run.ts'
import { few } from '../../support/takes-all.ts'

const builder = findBuildkit()
const found = builder === undefined ? undefined : findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined

/** Services of the examples that users develop, and the texts of their pages. */
const EXAMPLES = [
  ['node', 'api', /was loaded \d+ times/],
  ['compose', 'web', /^Hello from web-/],
  ['python', 'web', /Hello from web-/],
] as const

/** PyPI may not be reachable from the builder of the test cluster; its images have the Python of Debian. */
function withDebiansFlask(dockerfile: string): void {
  const install = 'apt-get update && apt-get install --yes --no-install-recommends python3-flask'
  writeFileSync(dockerfile, readFileSync(dockerfile, 'utf8').replace(/pip install .*/, install))
}

describe.skipIf(cluster === undefined)('examples/develop', () => {
  afterAll(() => cluster?.close())

  test.concurrent.each(few(EXAMPLES))('%s is built and deployed, and its page answers', (example, service, page) =>
    withProject(cluster!, async ({ name, directory }) => {
      cpSync(join(root, 'examples/develop', example), directory, { recursive: true })
      withDebiansFlask(join(directory, 'Dockerfile'))
      const to = ['--name', name, '--registry', `${REGISTRY}/develop`, '--wait', '--domain', DOMAIN]
      const { status, stderr } = await run(['deploy', ...to], {
        cwd: directory,
        env: {
          KUBECONFIG: process.env.KUBECONFIG ?? '',
          DEVCTL_HOME: `${directory}/.home`,
          DEVCTL_NAMESPACE: name,
          BUILDKIT_HOST: builder!,
        },
      })
      expect(status, stderr).toBe(0)
      await untilAnswers(cluster!, `${service}-${name}.${DOMAIN}`, '/', ({ body }) => page.test(body))
    }),
  )
})
