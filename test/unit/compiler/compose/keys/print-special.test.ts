import { expect, test } from 'vitest'
import { serviceConfig } from './service-config.ts'

test.each([
  ['{core: 0}', { core: 0 }],
  ['{core: "0"}', { core: 0 }],
  [
    '{nproc: {soft: 0, hard: 5}, nofile: {soft: 0, hard: 0}}',
    { nproc: { soft: 0, hard: 5 }, nofile: { soft: 0, hard: 0 } },
  ],
  ['{memlock: -1}', { memlock: -1 }],
])('a configuration shows the limits of %s, including zero', (written, printed) => {
  expect(serviceConfig(`    image: x\n    ulimits: ${written}`)['ulimits']).toEqual(printed)
})
