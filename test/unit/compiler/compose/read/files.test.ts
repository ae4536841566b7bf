import { expect, test } from 'vitest'
import { loadProject } from '../../../../../compiler/compose/load/load.ts'
import type { Project } from '../../../../../compiler/compose/project.ts'
import { readProject } from '../../../../../compiler/compose/read-project.ts'
import { Reporter } from '../../../../../compiler/diagnostics/reporter.ts'
import type { CompilerHost } from '../../../../../compiler/host.ts'

// These tests go from the text of the files to the typed project, and check the spans of the readers' diagnostics.

function compileFiles(files: Readonly<Record<string, string>>, environment: Readonly<Record<string, string>> = {}) {
  const paths = new Map(Object.entries(files).map(([name, text]) => [`/project/${name}`, text]))
  const host: CompilerHost = {
    readFile: path => {
      const text = paths.get(path)
      return text === undefined ? { kind: 'missing' } : { kind: 'file', bytes: new TextEncoder().encode(text) }
    },
    readDirectory: path =>
      path === '/project' ? Object.keys(files).map(name => ({ name, kind: 'file' as const })) : undefined,
    stat: path => {
      const text = paths.get(path)
      return path === '/project' || path === '/'
        ? { kind: 'folder', size: 0 }
        : text === undefined
          ? undefined
          : { kind: 'file', size: text.length }
    },
    realPath: path => path,
    variable: name => (environment[name] === undefined ? undefined : { value: environment[name], source: 'shell' }),
    environment: new Map(Object.entries(environment)),
    hashBuild: () => undefined,
    homeDirectory: '/home/user',
    checkout: () => undefined,
  }
  const reporter = new Reporter()
  const loaded = loadProject({ workingDirectory: '/project' }, host, reporter)
  const project: Project | undefined = loaded && readProject(loaded, host, reporter)
  const found = reporter.diagnostics().map(({ severity, code, span }) => {
    const { line = 0, column = 0 } = span ? span.file.position(span.start) : {}
    return `${severity} ${code} ${line}:${column} ${span?.file.text.slice(span.start, span.end)}`
  })
  return { project, found }
}

test('readProject reads an application that uses the dialect', () => {
  const { project, found } = compileFiles(
    {
      'compose.yaml': `
name: shop
services:
  web:
    image: nginx:\${TAG:-1.29}
    ports: ["8080:80", "127.0.0.1:53:53/udp"]
    healthcheck: {http: {path: /, port: "\${PORT}"}, interval: 1m30s, x-platform-liveness: true}
    resources: {limits: {cpu: 500m, memory: 128Mi}}
    stop_grace_period: 20
    x-node-selector: {disk: ssd}
    secrets: [token]
    depends_on: [db]
  db:
    image: postgres
    restart: on-failure:3
    volumes: ["data:/var/lib/postgresql/data:nocopy"]
    env_file: db.env
    environment: [MODE=test]
endpoints:
  labels: {a: b}
  rules:
    - {path: /, service: web, port: "\${PORT}"}
volumes:
  data: {driver_opts: {size: 2Gi}}
secrets:
  token: {environment: TOKEN}
`,
      'db.env': 'USER_NAME=me\nMODE=prod\n',
    },
    { PORT: '80', TOKEN: 'x' },
  )
  expect(found).toEqual([])
  const web = project?.services.get('web')
  expect(web).toMatchObject({
    image: { value: 'nginx:1.29' },
    ports: [
      { target: 80, published: '8080', protocol: 'TCP' },
      { target: 53, published: '53', protocol: 'UDP', hostIp: '127.0.0.1' },
    ],
    healthcheck: {
      check: { kind: 'http', path: '/', port: 80 },
      interval: { value: { milliseconds: 90_000 } },
      readiness: { value: true },
      liveness: { value: true },
    },
    resources: { limits: { cpu: { value: '500m' }, memory: { value: '128Mi' } } },
    stopGracePeriod: { value: { milliseconds: 20_000 } },
    nodeSelector: [{ name: 'disk', value: 'ssd' }],
    secrets: [{ source: 'token', target: '/run/secrets/token' }],
    dependsOn: [{ service: 'db', condition: 'service_started', required: true, implicit: false }],
  })
  const db = project?.services.get('db')
  expect(db).toMatchObject({
    restart: { policy: { value: 'on-failure' }, maxAttempts: { value: 3 } },
    mounts: [{ type: 'volume', source: 'data', target: { value: '/var/lib/postgresql/data' }, nocopy: true }],
  })
  expect(db?.environment.map(({ name, value }) => `${name}=${value}`)).toEqual(['MODE=test', 'USER_NAME=me'])
  expect(project?.endpoints).toMatchObject({
    endpoints: [{ rules: [{ path: { value: '/' }, service: { value: 'web' }, port: { value: 80 } }] }],
    labels: [{ name: 'a', value: 'b' }],
  })
  expect(project?.volumes.get('data')).toMatchObject({ driverOpts: [{ name: 'size', value: '2Gi' }] })
  expect(project?.volumes.get('data')?.name).toBeUndefined()
  expect(project?.secrets.get('token')?.content).toEqual(new TextEncoder().encode('x'))
})

test('diagnostics point at the smallest text in error', () => {
  const { found } = compileFiles({
    'compose.yaml': `
services:
  web:
    image: "nginx:a b"
    expose: ["53/xyz"]
    ports: [{target: 99999}]
    tmpfs: ["/t:size=big,mode=755"]
    volumes: ["data:rel"]
    environment: [=x]
    dns: [one.one]
    extra_hosts: [a=b]
    resources: {limits: {memory: 512m}}
    secrets: [{source: token, mode: 440}]
    links: ["web2:"]
    cap_add: [NET_ADMN]
  web2:
    image: x
    healthcheck: {test: [CMD, x], http: {path: x, port: 80}}
    restart: "no"
    deploy: {restart_policy: {condition: any}}
volumes:
  data:
secrets:
  token: {file: ./token.txt}
endpoints:
  shop: [{path: x, service: wbe, port: 80}]
`,
  })
  expect(found).toMatchInlineSnapshot(`
    [
      "error image/bad-reference 4:19 a b",
      "error ports/bad-expose 5:18 xyz",
      "error ports/out-of-range 6:22 99999",
      "error tmpfs/bad-size 7:22 big",
      "error mounts/relative-target 8:21 rel",
      "error environment/empty-name 9:19 =x",
      "error dns/bad-address 10:11 one.one",
      "error extra-hosts/bad-address 11:21 b",
      "error resources/part-of-byte 12:34 512m",
      "warning file-mounts/decimal-mode 13:37 440",
      "error links/bad-form 14:13 "web2:"",
      "warning capabilities/unknown 15:15 NET_ADMN",
      "error healthcheck/http-and-test 18:35 http",
      "warning restart/contradiction 19:14 "no"",
      "error secrets/file-not-found 24:17 ./token.txt",
      "error endpoints/bad-path 26:17 x",
      "error reference/endpoint-service 26:29 wbe",
    ]
  `)
})
