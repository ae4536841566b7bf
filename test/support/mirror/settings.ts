import type { MirrorFacts, MirrorSettings } from '../../../constructs/mirror/settings.ts'

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

/** An agent that only writes its user into each folder when it is filled, and opens the gate. */
export const AGENT = `
const fs = require('node:fs')
const sleep = new Int32Array(new SharedArrayBuffer(4))
while (fs.existsSync('/devctl/volume/src') && !fs.existsSync('/run/devctl/filled')) Atomics.wait(sleep, 0, 0, 20)
for (const one of fs.existsSync('/devctl/volume/src') ? fs.readdirSync('/devctl/volume/src') : [])
  fs.writeFileSync('/devctl/volume/src/' + one + '/agent', process.getuid() + ':' + process.getgid())
fs.mkdirSync('/devctl/volume/.devctl', { recursive: true })
fs.writeFileSync('/devctl/volume/.devctl/synced', '')
fs.writeFileSync('/run/devctl/ready', '')
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
