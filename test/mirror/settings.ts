import type { MirrorFacts, MirrorSettings } from '../../constructs/mirror/settings.ts'

/** A development container that changes nothing. */
export const settings = (more: Partial<MirrorSettings> = {}): MirrorSettings => ({
  name: 'api',
  mode: 'sync',
  autocreate: false,
  environment: [],
  folders: [{ path: '/app', directory: 'src/0' }],
  resources: { requests: {}, limits: {} },
  labels: {},
  annotations: {},
  tolerations: [],
  volumes: [],
  externalVolumes: [],
  secrets: [],
  security: { capabilities: { add: [], drop: [] } },
  probes: { liveness: false, readiness: false, startup: false },
  lifecycle: { postStart: { enabled: false }, preStop: { enabled: false } },
  agent: { resources: { requests: {}, limits: {} } },
  volume: {
    enabled: true,
    size: '5Gi',
    accessMode: 'ReadWriteOnce',
    volumeMode: 'Filesystem',
    labels: {},
    annotations: {},
  },
  services: [],
  ports: [8080],
  ...more,
})

/** An agent that only opens the gate. */
export const AGENT = `
require('node:fs').writeFileSync('/run/devctl/ready', '')
setInterval(() => {}, 1e9)
process.on('SIGTERM', () => process.exit())
`

export const facts = (more: Partial<MirrorFacts> = {}): MirrorFacts => ({
  namespace: 'shop',
  agent: { data: 'H4sI', hash: 'of the agent' },
  session: '{}',
  agentImage: 'node:22-alpine',
  toolsImage: 'busybox:1.37',
  runs: 'hold',
  files: [],
  claims: new Set(),
  canClaim: true,
  hasSidecars: true,
  services: [],
  ...more,
})
