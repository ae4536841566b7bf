import { expect, test } from 'vitest'
import { dependsOnStore, leftOut } from '../../../../../adapters/buildkit/engine/engine-limits.ts'
import { imageInput } from '../../../../support/buildkit/input.ts'

const ENGINE = { version: 27, hasContainerdStore: false }

test.each([
  ['an attestation without settings', '', true],
  ['an attestation with settings', 'mode=max', true],
  ['an attestation that is turned off', false, false],
  ['no attestation', undefined, false],
] as const)('an engine without the containerd image store leaves out %s: %j', (_, setting, isLeftOut) => {
  for (const key of ['provenance', 'sbom']) {
    const input = imageInput(setting === undefined ? {} : { [key]: setting })
    expect(leftOut(input, ENGINE)).toEqual(
      isLeftOut ? [`\`${key}\` needs the containerd image store and has no effect`] : [],
    )
    expect(dependsOnStore(input)).toBe(isLeftOut)
  }
})
