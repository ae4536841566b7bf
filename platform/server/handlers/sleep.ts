import type { sleepRoutes } from '../../api/sleep.ts'
import type { Services } from '../create-services.ts'
import type { HandlersOf } from './handler.ts'

export const sleepHandlers = ({
  namespaces,
  sleep,
}: Pick<Services, 'namespaces' | 'sleep'>): HandlersOf<typeof sleepRoutes> => ({
  'POST /namespaces/:ns/sleep': async ({ params: { ns }, by }) => {
    const { namespace } = await namespaces.require(by.user, ns, 'sleep', 'put it to sleep')
    const kept = await sleep.sleep(namespace)
    return { kept: [...kept, ...(await sleep.looked(ns))] }
  },
  'POST /namespaces/:ns/wake': async ({ params: { ns }, by }) => {
    const { namespace } = await namespaces.require(by.user, ns, 'wake', 'wake it')
    return { status: await sleep.wake(namespace) }
  },
})
