import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openApi } from '../../../../platform/api/openapi.ts'
import type { ApiRoute } from '../../../../platform/api/route.ts'
import { ROUTES } from '../../../../platform/api/routes.ts'
import { root } from '../../../support/cases.ts'

describe('the OpenAPI document', () => {
  test('the document is the golden one', async () => {
    const text = `${JSON.stringify(openApi('1'), undefined, 2)}\n`
    await expect(text).toMatchFileSnapshot(join(root, 'golden/platform/openapi.json'))
  })

  test('every operation has a name of its own', () => {
    const { paths } = openApi('1') as { readonly paths: Readonly<Record<string, object>> }
    const ids = Object.values(paths).flatMap(methods => Object.values(methods).map(({ operationId }) => operationId))
    expect(new Set(ids).size).toBe(Object.keys(ROUTES).length)
  })

  test('every request that changes something has a word for the audit, except for a few', () => {
    const silent = (Object.entries(ROUTES) as readonly [string, ApiRoute][])
      .filter(([name, { audit }]) => !name.startsWith('GET ') && audit === undefined)
      .map(([name]) => name)
    // These requests grant nothing and change nothing that another user sees.
    expect(silent).toEqual(SILENT)
  })
})

/** Requests that are not audited. For `POST /analytics`, the audit log would say who has run what. */
const SILENT = ['POST /auth/device/look', 'POST /kube-token', 'POST /analytics']
