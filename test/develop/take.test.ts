import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  DEPLOYMENT,
  deployment,
  give,
  openPlace,
  type Place,
  readyPod,
  takeOne,
  withoutServerFields,
} from './taking.ts'

describe.skipIf(!process.env.KUBECONFIG)('taking an application, and giving it back', () => {
  let place: Place
  beforeAll(async () => {
    place = await openPlace('take')
  })
  afterAll(() => place?.close())

  const podOf = (name: string) => readyPod(place, `dev.platform/mirror=${name}`)

  test('the mirror runs in its place, and everything is as it was after', async () => {
    const before = await place.apply(deployment('whole'))
    const session = place.session()
    const taken = await takeOne(session, DEPLOYMENT('whole'), { name: 'whole' })
    expect(taken.text).toBe('deployment/whole 2 -> 0, mirror deployment/whole-dev')
    const resting = await place.get(DEPLOYMENT('whole'))
    expect(resting).toMatchObject({ spec: { replicas: 0 }, metadata: { labels: { 'dev.platform/up': 'true' } } })
    await podOf('whole')
    await taken.release()
    expect(await give(session, 'whole')).toEqual({ wasActive: true, restored: 'deployment/whole' })
    expect(withoutServerFields(await place.get(DEPLOYMENT('whole')))).toEqual(withoutServerFields(before))
    expect(await place.get(DEPLOYMENT('whole-dev'))).toBeUndefined()
    expect(await give(session, 'whole')).toEqual({ wasActive: false, restored: undefined })
    const again = await place.apply(deployment('whole'))
    expect(again.metadata.generation).toBe((await place.get(DEPLOYMENT('whole')))?.metadata.generation)
  })
})
