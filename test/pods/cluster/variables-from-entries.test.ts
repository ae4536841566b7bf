import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { root } from '../../support/cases.ts'
import { findCluster } from '../../support/cluster/cluster.ts'
import { shows } from '../../support/cluster/examples.ts'
import { withProject } from '../../support/cluster/project.ts'

const found = findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined

describe.skipIf(cluster === undefined)('variables from secrets and configs', () => {
  afterAll(() => cluster?.close())

  test('a program logs in to a database with the password of a Secret, which is in no workload', () =>
    withProject(cluster!, async project => {
      cpSync(join(root, 'examples/secrets'), project.directory, { recursive: true })
      const deployed = await project.devctl('deploy', '--wait')
      expect(deployed.status, deployed.stderr).toBe(0)
      await shows['secrets']!(cluster!, project.name)
      const objects = await project.kubectl('get', 'deployments,statefulsets,pods,configmaps', '--output=yaml')
      expect(objects).toContain('secretKeyRef')
      expect(objects).not.toContain('correct-horse')
    }))
})
