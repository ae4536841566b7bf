import { afterAll, describe, expect, test } from 'vitest'
import { eventually, findCluster } from '../../support/cluster/cluster.ts'
import { type Project, withProject } from '../../support/cluster/project.ts'
import { few } from '../../support/takes-all.ts'

const found = findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined

const it = (name: string, body: (project: Project) => Promise<void>) =>
  test.concurrent(name, () => withProject(cluster!, body))

describe.skipIf(cluster === undefined)('the services of an environment', () => {
  afterAll(() => cluster?.close())

  it('ps lists services with their status, even without files', async project => {
    project.compose(`services:
  web:
    image: busybox:1.37
    command: [sh, -c, "trap 'exit 0' TERM; sleep 3600 & wait"]
    stop_grace_period: 1s
    expose: ["80"]
  lost:
    image: registry.invalid/none:1
  job:
    image: busybox:1.37
    command: ["true"]
    restart: "no"
`)
    expect(await project.devctl('ps')).toMatchObject({
      status: 0,
      stdout: '',
      stderr: expect.stringContaining('is not deployed in'),
    })
    expect(await project.devctl('logs')).toEqual({
      status: 0,
      stdout: '',
      stderr: `${project.name} is not deployed in ${project.name}\n`,
    })
    expect((await project.devctl('deploy', '--wait')).status).toBe(1)
    project.write('compose.yaml', '')
    // The deploy ended at the first failed service.
    const lines = await eventually('the others are there', async () => {
      const { status, stdout, stderr } = await project.devctl('ps')
      expect(status, stderr).toBe(0)
      return / complete$/m.test(stdout) && / ready$/m.test(stdout) ? stdout.split('\n') : undefined
    })
    expect(lines[0]).toMatch(/^Service +Kind +Ready +Restarts +Age +Image +Address +Status$/)
    expect(lines[1]).toMatch(/^job +Job +1\/1 +0 +\d+s +busybox:1.37 +complete$/)
    expect(lines[2]).toMatch(/^lost +Deployment +0\/1 +0 +\d+s +registry.invalid\/none:1 +its image cannot be pulled/)
    expect(lines[3]).toMatch(/^web +Deployment +1\/1 +0 +\d+s +busybox:1.37 +web:80 +ready$/)
    const records = JSON.parse((await project.devctl('ps', '--output', 'json', 'web')).stdout)
    expect(records).toMatchObject([
      { service: 'web', workload: 'deployment/web', ready: true, pods: { ready: 1, wanted: 1 } },
    ])
    const wrong = await project.devctl('ps', 'wbe')
    expect(wrong).toMatchObject({ status: 1, stderr: expect.stringContaining('did you mean `web`?') })
  })

  it('services reach themselves by their own names, even to become ready', async project => {
    project.compose(`services:
  web:
    image: busybox:1.37
    command: [sh, -c, "httpd -f -p 8080 -h /etc"]
    expose: ["8080"]
    stop_grace_period: 0s
    healthcheck:
      test: [CMD, wget, -qO, /dev/null, "http://web:8080/passwd"]
      # Checks begin at once: the deploy would end before this.
      start_period: 1h
      start_interval: 1s
  store:
    image: busybox:1.37
    expose: ["9000"]
    volumes: ["data:/data"]
    stop_grace_period: 0s
    command:
      - sh
      - -c
      # Listens at the address that its own name has.
      - |
        address=$$(nslookup store.${project.name}.svc.cluster.local | sed -n 's/^Address: //p' | tail -1)
        httpd -f -p "$$address:9000" -h /etc
    healthcheck: {test: [CMD, wget, -qO, /dev/null, "http://store:9000/passwd"], interval: 1s}
  app:
    image: busybox:1.37
    environment: {STORE_URL: "http://store:9000"}
    command: [sh, -c, "wget -qO /dev/null $$STORE_URL/passwd && sleep 3600"]
    stop_grace_period: 0s
    depends_on: {store: {condition: service_healthy}}
volumes: {data: {}}
`)
    const { status, stderr } = await project.devctl('deploy', '--wait')
    expect(status, stderr).toBe(0)
  })

  it('services of one deploy run as with Compose', async project => {
    project.write('conf/..data', 'dots')
    project.write('conf/sub/plain', 'plain')
    project.compose(`services:
  main:
    image: busybox:1.37
    user: "1000"
    read_only: true
    command: [sh, -ec, "echo hi > /data/index.html; exec httpd -f -p 8080 -h /data"]
    volumes: ["~/none-${project.name}:/data"]
    stop_grace_period: 0s
    healthcheck: {test: [CMD, wget, -qO, /dev/null, "http://localhost:8080"], interval: 1s}
  # Ends well, or not, in the Pod of a service that becomes ready.
  ends:
    image: busybox:1.37
    command: [sh, -c, "true"]
    network_mode: service:side
  fails:
    image: busybox:1.37
    command: [sh, -c, "exit 3"]
    pid: service:side
    restart: "no"
  side:
    image: busybox:1.37
    container_name: side-dev.acme
    command: [sh, -c, "httpd -f -p 8080 -h /conf"]
    volumes: ["./conf:/conf"]
    stop_grace_period: 0s
  none: {image: "busybox:1.37", expose: ["80"], deploy: {replicas: 0}}
  once: {image: "busybox:1.37", restart: "no", scale: 0}
  client:
    image: busybox:1.37
    user: "1001"
    command:
      - sh
      - -ec
      - |
        until wget -qO- http://side-dev.acme:8080/..data; do sleep 1; done
        test "$$(cat /conf/..data)" = dots
        touch /conf/sub/logs/written
    volumes: ["./conf:/conf:ro", "./conf/sub/logs:/conf/sub/logs"]
    restart: "no"
    stop_grace_period: 0s
    depends_on:
      main: {condition: service_healthy}
      none: {condition: service_healthy}
      once: {condition: service_completed_successfully}
`)
    const { status, stderr } = await project.devctl('deploy', '--wait', '--start-order', 'manifest')
    expect(status, stderr).toBe(0)
  })

  it('commands refuse a missing namespace, and deploy --create-namespace creates it', async project => {
    project.compose(
      'services:\n  web:\n    image: busybox:1.37\n    command: [sleep, "9999"]\n    stop_grace_period: 0s\n',
    )
    const other = `${project.name}-new`
    const commands = [['ps'], ['logs', '--no-follow'], ['logs'], ['endpoints'], ['diff'], ['restart'], ['deploy']]
    for (const [command, ...args] of few(commands, 2)) {
      const { status, stderr } = await project.devctl(command!, '-n', other, ...args)
      expect(status, command).toBe(1)
      expect(stderr, command).toContain(`namespace \`${other}\` does not exist`)
      expect(stderr, command).toContain('--create-namespace')
    }
    try {
      const { status, stderr } = await project.devctl('deploy', '-n', other, '--create-namespace')
      expect(status, stderr).toBe(0)
      expect(stderr).toContain(`created namespace ${other}`)
    } finally {
      await cluster!.deleteNamespace(other)
    }
  })
})
