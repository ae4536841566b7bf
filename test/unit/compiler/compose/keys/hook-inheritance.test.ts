import { expect, test } from 'vitest'
import { serviceConfig } from './service-config.ts'

test('a pre_start hook takes the keys of a container from its service, except the mounts', () => {
  const service = serviceConfig(`
    image: nginx
    user: "1000"
    read_only: true
    volumes: [data:/data]
    tmpfs: [/tmp]
    ports: ["80"]
    deploy: {replicas: 2}
    pre_start:
      - command: [migrate]
        image: tools
  `)
  const [hook] = service['pre_start'] as readonly Record<string, unknown>[]
  expect(Object.keys(hook!).sort()).toEqual([
    'command',
    'entrypoint',
    'image',
    'networks',
    'read_only',
    'tmpfs',
    'user',
  ])
  expect(hook!['image']).toBe('tools')
})
