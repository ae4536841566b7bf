import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { goldenCases, root } from '../support/cases.ts'
import { checkObjects } from '../support/check-objects.ts'
import { documentsOf, expectedDocuments } from '../support/documents.ts'

/** Names that a golden case takes from somebody else. */
const OF_OTHERS = ['runs as migrator,']

// These checks hold for every manifest, whatever its rule: a reviewer easily misses a port that no container has.
describe('the manifests of golden cases and examples', () => {
  for (const one of goldenCases()) {
    const objects = expectedDocuments(one).map(({ object }) => object)
    if (objects.length === 0) continue
    // The one case that renders without a namespace is about that.
    const namespace = one.name !== 'endpoints/hosts-contain-the-environment-if-no-namespace-is-set'
    test(one.name, () => {
      const wrong = checkObjects(objects, { namespace })
      expect(wrong.filter(text => !OF_OTHERS.some(other => text.includes(other)))).toEqual([])
    })
  }
  const examples = join(root, 'golden/examples')
  for (const file of existsSync(examples) ? readdirSync(examples).filter(file => file.endsWith('.yaml')) : []) {
    const objects = documentsOf(readFileSync(join(examples, file), 'utf8')).map(one => one.object)
    test(file, () => expect(checkObjects(objects, { namespace: true })).toEqual([]))
  }
})
