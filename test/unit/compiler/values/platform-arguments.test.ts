import { expect, test } from 'vitest'
import { platformArguments } from '../../../../compiler/values/images/platform.ts'

test.each([
  ['linux/amd64', 'linux/amd64', 'linux', 'amd64', ''],
  ['Linux/x86_64', 'linux/amd64', 'linux', 'amd64', ''],
  ['linux/arm64/v8', 'linux/arm64', 'linux', 'arm64', ''],
  ['linux/aarch64', 'linux/arm64', 'linux', 'arm64', ''],
  ['linux/arm', 'linux/arm/v7', 'linux', 'arm', 'v7'],
  ['linux/arm/v6', 'linux/arm/v6', 'linux', 'arm', 'v6'],
])('the arguments of the platform %s are those of the builder', (platform, ...values) => {
  expect([...platformArguments(platform).values()]).toEqual(values)
})

test.each(['amd64', 'linux', 'windows(10.0.17763)/amd64', ''])('the platform %j has no known arguments', platform => {
  expect(platformArguments(platform).size).toBe(0)
})
