import fc from 'fast-check'
import { expect } from 'vitest'
import { type Image, imageOf, imageOfBuildctl, inFolder } from './buildkit.ts'
import { type Tree, tree, writeTree } from './trees.ts'

/** The image, or that it does not build. */
const outcomeOf = (building: Promise<Image>) =>
  building.then(
    ({ config, listing, contents }) => ({ config, listing, contents }),
    () => 'does not build',
  )

/** Builds generated contexts with devctl and with buildctl, and compares what is in the images. */
export async function expectSameFiles(address: string, parameters: fc.Parameters<[Tree]>): Promise<void> {
  const property = fc.asyncProperty(tree, one =>
    inFolder({}, async folder => {
      await writeTree(folder, one)
      const [ours, theirs] = await Promise.all([
        // Without the cache: it takes no account of times.
        outcomeOf(imageOf(address, folder, { noCache: true })),
        outcomeOf(imageOfBuildctl(address, folder, ['--opt', 'no-cache='])),
      ])
      expect(ours).toEqual(theirs)
    }),
  )
  await fc.assert(property, parameters)
}
