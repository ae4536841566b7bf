import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { root } from '../../support/cases.ts'
import { findCluster } from '../../support/cluster/cluster.ts'
import { apiFields, DOCUMENTS, type Schemas } from '../../support/kubernetes/api-fields.ts'

const cluster = findCluster()

describe.skipIf(cluster === undefined)('the table of the Kubernetes API', () => {
  afterAll(() => cluster?.close())

  test('the fields are those of the API server', async () => {
    const documents = await Promise.all(
      DOCUMENTS.map(path => cluster!.get<{ components: { schemas: Schemas } }>(`/openapi/v3/${path}`)),
    )
    const schemas: Schemas = Object.assign({}, ...documents.map(({ components }) => components.schemas))
    await expect(apiFields(schemas)).toMatchFileSnapshot(join(root, 'compiler/values/kubernetes/api-fields.ts'))
  })
})
