import { expect, test } from 'vitest'
import { agentPlaces, agentSession } from '../../../../develop/session/agent-session.ts'

const DUTIES = { fills: true, sshPort: 2222, folders: [{ name: '0', path: 'src/0' }], write: 'auto' } as const

test('agentSession returns the session of an existing mirror unchanged, so that its Pod continues', () => {
  const first = JSON.stringify(agentSession(undefined, DUTIES))
  expect(JSON.stringify(agentSession(JSON.parse(first), DUTIES))).toBe(first)
})

test('agentSession creates new keys if the session is unreadable or of another version', () => {
  const { key } = agentSession(undefined, DUTIES)
  for (const existing of [undefined, {}, { protocol: 2, key }, { protocol: 1, key }])
    expect(agentSession(existing, DUTIES).key).not.toBe(key)
})

test('the two servers of the agent have different ports', () => {
  expect(agentSession(undefined, { ...DUTIES, sshPort: 2223 })).toMatchObject({ syncPort: 2224, sshPort: 2223 })
})

test('the agent listens on sockets if the Pod uses the network of the node', () => {
  expect(agentPlaces(agentSession(undefined, { ...DUTIES, hostNetwork: true }))).toEqual({
    sync: '/run/devctl/sync.sock',
    ssh: '/run/devctl/ssh.sock',
  })
  expect(agentPlaces(agentSession(undefined, DUTIES))).toEqual({ sync: 2223, ssh: 2222 })
})
