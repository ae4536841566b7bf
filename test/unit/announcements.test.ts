import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { toDnsLabel } from '../../compiler/values/dns-name.ts'
import type { KubernetesObject } from '../../constructs/manifest.ts'
import { goldenCases } from '../support/cases.ts'
import { expectedDocuments } from '../support/documents.ts'

/**
 * Messages that announce a result. In each golden case that renders, the output must contain what its messages announce
 * (golden.test.ts keeps the files that are read here equal to the real output). The groups of `says` are the words of
 * the message; `holds` searches the output for what they promise.
 */
interface Announcement {
  readonly says: RegExp
  readonly holds: (output: Output, ...words: readonly string[]) => boolean
}

class Output {
  readonly objects: readonly KubernetesObject[]
  constructor(objects: readonly KubernetesObject[]) {
    this.objects = objects
  }
  find(kind: string, name?: string) {
    return this.objects.find(one => one.kind === kind && (name === undefined || one.metadata.name === name))
  }
  /** The workload that runs a service. */
  workload(service: string) {
    const kinds = ['Deployment', 'StatefulSet', 'DaemonSet', 'Job']
    return this.objects.find(
      ({ kind, metadata }) => kinds.includes(kind) && metadata.labels?.['dev.platform/service'] === service,
    )
  }
  has(text: RegExp | string): boolean {
    const all = JSON.stringify(this.objects)
    return typeof text === 'string' ? all.includes(text) : text.test(all)
  }
  /** True if a route leads to this port of any service. */
  routesTo(port: number): boolean {
    const routes = this.objects.filter(({ kind }) => kind === 'Ingress' || kind === 'HTTPRoute')
    return new RegExp(`"(?:number|port)":${port}[,}]`).test(JSON.stringify(routes))
  }
  claimOf(storageClass: string | undefined): boolean {
    return this.objects.some(
      ({ kind, spec }) =>
        kind === 'PersistentVolumeClaim' && (spec as { storageClassName?: string }).storageClassName === storageClass,
    )
  }
}

const announcements: readonly Announcement[] = [
  {
    says: /becomes the claim `(.*?)`/,
    holds: (output, claim) => output.find('PersistentVolumeClaim', claim) !== undefined,
  },
  {
    says: /the volume `(.*?)` is not used; no claim/,
    holds: (output, claim) => output.find('PersistentVolumeClaim', claim) === undefined,
  },
  { says: /is copied into a ConfigMap/, holds: output => output.find('ConfigMap') !== undefined },
  // The Secret itself is only in the output with `--include-secrets`.
  { says: /becomes a Secret|copied into a Secret/, holds: output => output.has(/"secret(?:Name)?":/) },
  {
    says: /the (?:service is named|service is reachable as) `(.*?)`/,
    holds: (output, service) => output.find('Service', service) !== undefined,
  },
  {
    says: /too long for its workload; it is shortened to `(.*?)`/,
    holds: (output, name) => output.has(`"name":"${name}`),
  },
  {
    says: /port (\d+) of `(.*?)` is opened/,
    holds: (output, port, service) =>
      JSON.stringify(output.find('Service', toDnsLabel(service!))?.['spec']).includes(`"port":${port}`),
  },
  { says: /^[^`]*port (\d+) is not made public/, holds: (output, port) => !output.routesTo(Number(port)) },
  { says: /`(.*?)` becomes a Job/, holds: (output, service) => output.workload(service!)?.kind === 'Job' },
  {
    says: /`(.*?)` has ports, but `.*?` makes it a Job/,
    holds: (output, service) => output.workload(service!)?.kind === 'Job',
  },
  { says: /becomes a claim of the storage class `(.*?)`/, holds: (output, name) => output.claimOf(name) },
  { says: /becomes a claim of the default storage class/, holds: output => output.claimOf(undefined) },
  { says: /is not valid in Kubernetes; `(.*?)` is used/, holds: (output, name) => output.has(`"${name}"`) },
  { says: /the host name `.*?` becomes `(.*?)`/, holds: (output, name) => output.has(`"hostname":"${name}"`) },
  {
    says: /the endpoint name `.*?` is not valid in a host name; it becomes `(.*?)`/,
    holds: (output, name) => output.has(`"host":"${name}-`),
  },
  {
    says: /longer than 63 characters; it is shortened to `(.*?)`/,
    holds: (output, name) => output.has(`"host":"${name}.`),
  },
  {
    says: /the readiness probe of `(.*?)` is/,
    holds: (output, service) => JSON.stringify(output.workload(service!)).includes('"readinessProbe"'),
  },
  { says: /`network_mode: host` uses the network/, holds: output => output.has('"hostNetwork":true') },
  { says: /`pid: host` means the node/, holds: output => output.has('"hostPID":true') },
  { says: /`ipc: host` means the node/, holds: output => output.has('"hostIPC":true') },
  {
    says: /`(.*?)` is mounted from the node/,
    holds: (output, path) => output.has(`"hostPath":{"path":"${path}"`),
  },
  { says: /`(.*?)` is a device of the node/, holds: (output, path) => output.has(`"path":"${path}"`) },
  { says: /opens port (\d+) on the node/, holds: (output, port) => output.has(`"hostPort":${port}`) },
  {
    says: /a grace period of zero becomes one second/,
    holds: output => output.has('"terminationGracePeriodSeconds":1'),
  },
  { says: /becomes a shared process namespace/, holds: output => output.has('"shareProcessNamespace":true') },
  { says: /replaces (\d+) Pods at once/, holds: (output, count) => output.has(`"maxUnavailable":${count}`) },
  { says: /internal network allows egress to ports/, holds: output => output.find('NetworkPolicy') !== undefined },
  {
    says: /(?:devices of a node|`device_ids`); it requests (\d+)/,
    holds: (output, count) => output.has(new RegExp(`"[a-z.]+/[a-z0-9]+":"${count}"`)),
  },
  {
    says: /becomes (\d+)s: Kubernetes supports only whole seconds/,
    holds: (output, seconds) => output.has(new RegExp(`[Ss]econds":${seconds}[,}]`)),
  },
]

/** Wording of messages that announce what something in the file becomes. */
const ANNOUNCES = /\bbecomes?\b|is copied|is named|is reachable as|is shortened to|is opened|is used;? |makes it a Job/
/** Start of messages about values of variables, and about files that are read. */
const OF_INPUT = /^(?:warning|info)\[(?:interpolation|dotenv|files|manifest)\//

describe('announced results in the output', () => {
  for (const one of goldenCases().filter(({ command }) => command === 'render')) {
    const said = join(one.directory, 'diagnostics.txt')
    const documents = expectedDocuments(one)
    if (documents.length === 0 || !existsSync(said)) continue
    test(one.name, () => {
      const output = new Output(documents.map(({ object }) => object))
      for (const line of readFileSync(said, 'utf8')
        .split('\n')
        .filter(text => /^(?:warning|info)\[/.test(text) && !OF_INPUT.test(text))) {
        const found = announcements.flatMap(({ says, holds }) => {
          const match = says.exec(line.replace(/^[^:]*: /, ''))
          return match ? [holds(output, ...match.slice(1))] : []
        })
        expect(found, line).not.toContain(false)
        if (ANNOUNCES.test(line)) expect(found, `nothing here looks for what this promises: ${line}`).not.toEqual([])
      }
    })
  }
})
