import { expect, test } from 'vitest'
import { platformLaptop } from './platform-laptop.ts'

test('context delete knows a platform by another spelling of its address', async () => {
  const { url, stored, remember, asked, devctl } = await platformLaptop()
  remember('ann')
  const { stdout, status } = await devctl(`context delete ${url.replace('http', 'HTTP')}/`)
  expect({ stdout, status }).toEqual({ stdout: `Deleted context ${url}\n`, status: 0 })
  expect(stored().contexts).toEqual({ kind: {} })
  // A token for programs stays.
  expect(asked).toEqual([])
})
