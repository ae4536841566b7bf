import { PENDING, RUNNING } from './no-node.ts'

/**
 * Project of a service that runs as a user and whose two Pods stay pending, with a development container that syncs
 * `files`.
 */
export const TWO_REPLICAS: Readonly<Record<'compose.yaml' | 'devctl.yml', string>> = {
  'compose.yaml': `name: shop
services:
  api:
    image: node:22-alpine
    working_dir: /app
    command: ["sleep", "3600"]
    user: "1000:1000"
    scale: 2
    stop_grace_period: 1s
    ${PENDING}
`,
  'devctl.yml': `deploy: {compose: compose.yaml}
dev:
  api:
    command: ["sh", "-c", "echo connected; sleep 3600"]
    workdir: /app
    sync: ["./files:/app"]
    ${RUNNING}
`,
}
