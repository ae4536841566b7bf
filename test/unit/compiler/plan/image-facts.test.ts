import { describe, expect, test } from 'vitest'
import type { PlanOptions } from '../../../../compiler/options.ts'
import { factsOfConfig, type ImageConfig } from '../../../../compiler/values/images/image-config.ts'
import { planOf } from '../../../support/plan/compose.ts'

/** The plan of a service `web`, with the configuration of its image. */
const webOf = (service: string, config: ImageConfig | undefined, options: PlanOptions = {}, files = {}) =>
  planOf(
    `services:\n  web: {${service}}\n${service.includes('data:') ? 'volumes: {data: {}}\n' : ''}`,
    { ...options, ...(config && { imageConfigs: new Map([['web', config]]) }) },
    files,
  )

describe('factsOfConfig', () => {
  test('factsOfConfig returns what the configuration says about the image', () => {
    const config = {
      User: 'node:node',
      WorkingDir: '/app',
      ExposedPorts: { '8080/tcp': {}, '53/udp': {}, '80': {}, '8000-8010/tcp': {}, '0/tcp': {} },
      Volumes: { '/data': {}, '/cache': {} },
      Healthcheck: { Test: ['CMD-SHELL', 'curl -f localhost'], Interval: 5e9, Timeout: 0, Retries: 4 },
    }
    expect(factsOfConfig(config)).toEqual({
      user: 'node:node',
      workdir: '/app',
      exposed: [
        { port: 53, protocol: 'udp' },
        { port: 80, protocol: 'tcp' },
        { port: 8080, protocol: 'tcp' },
      ],
      volumes: ['/cache', '/data'],
      healthcheck: { check: { kind: 'shell', script: 'curl -f localhost' }, interval: 5_000_000_000n, retries: 4 },
    })
  })

  test.each<[readonly string[] | null, unknown]>([
    [['NONE'], { kind: 'none' }],
    [['CMD', 'check', '-q'], { kind: 'exec', command: ['check', '-q'] }],
    [['CMD'], undefined],
    [['CMD-SHELL', ''], undefined],
    [['check'], undefined],
    [[], undefined],
    [null, undefined],
  ])('factsOfConfig converts the healthcheck test %j', (Test, check) =>
    expect(factsOfConfig({ Healthcheck: { Test } }).healthcheck?.check).toEqual(check),
  )

  test('an empty configuration has no facts', () => {
    const empty = { exposed: [], volumes: [] }
    expect(factsOfConfig({})).toEqual(empty)
    expect(factsOfConfig({ User: '', WorkingDir: '', ExposedPorts: null, Volumes: null, Healthcheck: null })).toEqual(
      empty,
    )
  })
})

describe('known configurations of images', () => {
  test('the image adds ports to a service', () => {
    expect(webOf('image: nginx', undefined).ports('web')).toEqual([])
    const { ports, lines } = webOf('image: nginx, ports: ["8080:80"]', {
      ExposedPorts: { '80/tcp': {}, '443/tcp': {} },
    })
    expect(ports('web')).toEqual(['tcp-80 80→80', 'tcp-443 443→443', 'tcp-8080 8080→80'])
    expect(lines).toEqual([])
  })

  test('the base image adds ports to those of the Dockerfile', () => {
    const files = { Dockerfile: 'FROM base\nEXPOSE 80\n' }
    expect(webOf('build: .', undefined, {}, files).ports('web')).toHaveLength(1)
    expect(webOf('build: .', { ExposedPorts: { '80/tcp': {}, '90/tcp': {} } }, {}, files).ports('web')).toHaveLength(2)
  })

  test('the healthcheck of the image becomes a probe of its own program', () => {
    const config = { Healthcheck: { Test: ['CMD', 'check'], Interval: 7e9 } }
    const { container, lines } = webOf('image: app', config)
    expect(container('web').readinessProbe).toMatchObject({ periodSeconds: 7 })
    expect(lines).toEqual(['info healthcheck/from-dockerfile: app'])
    expect(webOf('image: app, healthcheck: {disable: true}', config).container('web').readinessProbe).toBeUndefined()
    // The file's own program need not pass the image's check.
    expect(webOf('image: app, command: other', config).container('web').readinessProbe).toBeUndefined()
  })

  test('timings without a test apply to the check of the image, without a warning', () => {
    const service = 'image: app, healthcheck: {interval: 9s}'
    expect(webOf(service, undefined).codes).toEqual(['healthcheck/image-check'])
    const { container, codes } = webOf(service, { Healthcheck: { Test: ['CMD', 'check'], Interval: 7e9 } })
    expect(codes).toEqual([])
    expect(container('web').readinessProbe).toMatchObject({ periodSeconds: 9 })
  })

  test('a user name that is the user of the image is not reported', () => {
    expect(webOf('image: app, user: node', undefined).codes).toEqual(['security/user-name'])
    expect(webOf('image: app, user: node', { User: 'other' }).codes).toEqual(['security/user-name'])
    expect(webOf('image: app, user: node', { User: 'node' }).codes).toEqual([])
  })
})

describe('the working directory of the base image', () => {
  const files = { Dockerfile: 'FROM php:8\nCOPY src/ .\n', 'src/index.php': '<?php\n' }
  const isMounted = (WorkingDir: string | undefined, Dockerfile = files.Dockerfile) =>
    webOf(
      'build: ., volumes: ["./src:/var/www/html:ro"]',
      { ...(WorkingDir && { WorkingDir }) },
      {},
      {
        ...files,
        Dockerfile,
      },
    ).container('web').mounts.length > 0

  test('a folder that the image has in its working directory is not mounted', () => {
    expect(isMounted(undefined)).toBe(true)
    expect(isMounted('/var/www/html')).toBe(false)
    expect(isMounted('/app')).toBe(true)
  })

  test('the working directory does not apply to a stage that begins with another image', () => {
    const copied = (from: string) =>
      `FROM ${from} AS files\nCOPY src/ .\nFROM php:8\nCOPY --from=files /var/www/html .\n`
    expect(isMounted('/var/www/html', copied('php:8'))).toBe(false)
    expect(isMounted('/var/www/html', copied('other'))).toBe(true)
  })

  test('the working directory is ignored if the Dockerfile has its own', () => {
    expect(isMounted('/var/www/html', 'FROM php:8\nCOPY src/ .\nWORKDIR /var/www/html\n')).toBe(true)
  })
})

describe('the policy `restricted`', () => {
  const restricted: PlanOptions = { policy: 'restricted' }

  test.each<[string | undefined, string]>([
    [undefined, 'runs as root'],
    ['root', 'runs as root'],
    ['0:0', 'runs as root'],
    [':1000', 'runs as root'],
    ['node', 'is the name `node`'],
    ['node:1000', 'is the name `node`'],
  ])('the image of the user `%s` is refused', (User, words) => {
    const { diagnostics } = webOf('image: app', User === undefined ? {} : { User }, restricted)
    expect(diagnostics).toMatchObject([
      { code: 'security/image-user', severity: 'error', message: expect.stringContaining(words) },
    ])
    expect(webOf('image: app, user: "1000"', User === undefined ? {} : { User }, restricted).codes).toEqual([])
  })

  test.each(['1000', '1000:root'])('the image of the user `%s` is accepted', User => {
    expect(webOf('image: app', { User }, restricted).codes).toEqual([])
    expect(webOf('image: app', { User }).codes).toEqual([])
  })

  test('volumes belong to the user of the image and are filled by that user', () => {
    const service = 'image: app, volumes: ["data:/data"]'
    expect(webOf(service, undefined, restricted).pod('web')).toMatchObject({ fsGroup: 1000 })
    const { fsGroup, fills } = webOf(service, { User: '1234:5678' }, restricted).pod('web')
    expect(fsGroup).toBe(5678)
    expect(fills[0]!.security).toMatchObject({ runAsUser: 1234, runAsGroup: 5678 })
    expect(
      webOf('image: app, user: "9", volumes: ["data:/data"]', { User: '1234:5678' }, restricted).pod('web'),
    ).toMatchObject({ fsGroup: 9, fills: [{ security: { runAsUser: 9 } }] })
  })
})

describe('volumes of the image', () => {
  const config = { Volumes: { '/var/lib/data': {} } }
  const codes = (service: string) => webOf(service, config).codes

  test('a volume of the image without a mount is reported', () => {
    const { diagnostics } = webOf('image: db', config)
    expect(diagnostics).toMatchObject([{ code: 'volumes/of-image', severity: 'warning' }])
    expect(codes('image: db, volumes: ["data:/var/lib/data/sub"]')).toContain('volumes/of-image')
  })

  test.each(['volumes: ["data:/var/lib/data"]', 'volumes: ["data:/var/lib"]', 'tmpfs: /var/lib/data', 'restart: "no"'])(
    'a volume of the image needs no mount with `%s`',
    rest => expect(codes(`image: db, ${rest}`)).not.toContain('volumes/of-image'),
  )
})
