import { describe, expect, test } from 'vitest'
import { type AvailableImages, compile, type LoadOptions, type PlanOptions } from '../../../compiler/index.ts'
import { memoryHost } from '../../support/plan/compose.ts'

const COMPOSE = `
services:
  web:
    build: .
    volumes: ["../outside:/etc/outside", "data:/data"]
  worker:
    build: .
    restart: "no"
    colour: blue
  tool: {image: tool, network_mode: "service:web", restart: "no"}
  db:
    image: postgres:16
    environment: {POSTGRES_PASSWORD: "\${PASSWORD:-correct-horse-battery}"}
volumes: {data: {}}
`
const OPTIONS: LoadOptions & PlanOptions = {
  workingDirectory: '/project',
  name: 'app',
  namespace: 'shop',
  registry: 'registry.example.com',
  includeSecrets: true,
  forBuild: 'deploy',
}
const digest = `sha256:${'0'.repeat(64)}`
const IMAGES: readonly AvailableImages[] = [
  { references: new Map([['web', `registry.example.com/web@${digest}`]]) },
  {
    references: new Map([['web', `registry.example.com/web@${digest}`]]),
    configs: new Map([['web', { User: 'app', ExposedPorts: { '8080/tcp': {} }, Volumes: { '/cache': {} } }]]),
  },
  { programs: new Map([['tool', { Entrypoint: ['/run'], Cmd: ['all'] }]]) },
  { configs: new Map([['worker', { Entrypoint: ['/run'], Cmd: ['all'], User: '1000' }]]) },
]

const hostOf = (text: string) => memoryHost({ 'compose.yaml': text, Dockerfile: 'FROM busybox\nEXPOSE 80\n' })
const SOUND = COMPOSE.replace('    colour: blue\n', '')

describe('withImages', () => {
  test.each([
    ['with an error', COMPOSE],
    ['without an error', SOUND],
  ])('withImages returns what a compilation with these images returns, for a file %s', (_, text) => {
    const first = compile({ ...OPTIONS, plansErrors: true }, hostOf(text))
    // Each use starts from the same state, so the order does not matter.
    for (const images of [...IMAGES, ...IMAGES]) {
      const { references = new Map(), configs, programs } = images
      const known = { ...(configs && { imageConfigs: configs }), ...(programs && { imagePrograms: programs }) }
      const options = { ...OPTIONS, plansErrors: true, images: references, ...known }
      const { plan, diagnostics } = compile(options, hostOf(text))
      const again = first.withImages!(images)
      expect(plan).toBeDefined()
      expect(JSON.stringify(again.plan, shown)).toBe(JSON.stringify(plan, shown))
      expect(again.diagnostics.map(textOf)).toEqual(diagnostics.map(textOf))
    }
  })

  test('withImages adds to the images of the options, and replaces those of the same services', () => {
    const images = new Map([
      ['db', 'postgres:17'],
      ['web', 'example.com/web:1'],
    ])
    const { withImages } = compile({ ...OPTIONS, images }, hostOf(SOUND))
    const { plan } = withImages!({ references: new Map([['web', `example.com/web@${digest}`]]) })
    expect([plan!.images.get('db'), plan!.images.get('web')]).toEqual(['postgres:17', `example.com/web@${digest}`])
  })

  test('withImages reads the Compose files no second time', () => {
    const host = hostOf(SOUND)
    const read: string[] = []
    const readFile = (path: string) => {
      read.push(path)
      return host.readFile(path)
    }
    const counting = { ...host, readFile }
    const { withImages } = compile(OPTIONS, counting)
    expect(read).toContain('/project/compose.yaml')
    read.length = 0
    withImages!(IMAGES[1]!)
    expect(read).not.toContain('/project/compose.yaml')
  })

  test('a project that cannot be loaded has no withImages', () => {
    expect(compile(OPTIONS, hostOf('services: [web]')).withImages).toBeUndefined()
  })
})

const textOf = ({ code, severity, message, span }: ReturnType<typeof compile>['diagnostics'][number]): string =>
  `${severity}[${code}] ${span?.start}: ${message}`

/** Writes maps and big integers, which JSON has not, and leaves out positions, which contain whole files. */
const shown = (key: string, value: unknown): unknown =>
  key === 'span' ? undefined : value instanceof Map ? [...value] : typeof value === 'bigint' ? `${value}` : value
