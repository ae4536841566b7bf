import type { Dependency, Project, Service } from '../../../compiler/compose/project.ts'
import { SecretPlaces } from '../../../compiler/text/secret-places.ts'
import { type At, SourceFile, type Span } from '../../../compiler/text/source.ts'
import { mapTree } from '../../../compiler/text/tree.ts'

// Projects without files: every field has a default, and all spans are equal.

export const span: Span = { file: new SourceFile('compose.yaml', ''), start: 0, end: 0 }

/** A value with an arbitrary span. */
export const at = <T>(value: T): At<T> => ({ value, span })

/** A service with an image and the given `fields`. */
export function service(name: string, fields: Partial<Service> = {}): Service {
  return {
    name,
    span,
    tree: mapTree(span, []),
    image: at(`${name}:1`),
    environment: [],
    secretEnvironment: [],
    variablesFromSecrets: [],
    variablesFromConfigs: [],
    labels: [],
    annotations: [],
    groupAdd: [],
    stdinOpen: false,
    tty: false,
    restart: {},
    dependsOn: [],
    links: [],
    externalLinks: [],
    preStart: [],
    postStart: [],
    preStop: [],
    ports: [],
    expose: [],
    networks: [],
    dns: [],
    dnsSearch: [],
    dnsOpt: [],
    extraHosts: [],
    mounts: [],
    tmpfs: [],
    volumesFrom: [],
    configs: [],
    secrets: [],
    resources: { limits: {}, requests: {} },
    gpus: [],
    nodeSelector: [],
    deploy: { labels: [], constraints: [], spread: [] },
    capAdd: [],
    capDrop: [],
    securityOpt: [],
    sysctls: [],
    devices: [],
    attach: true,
    watch: [],
    ...fields,
  }
}

/** A project with the given services. */
export function project(services: readonly Service[], fields: Partial<Project> = {}): Project {
  return {
    name: 'app',
    directory: '/project',
    services: new Map(services.map(one => [one.name, one])),
    absentServices: new Set(),
    incompleteServices: [],
    documents: [],
    contextServices: new Map(),
    networks: new Map(),
    volumes: new Map(),
    secrets: new Map(),
    configs: new Map(),
    objects: [],
    secretPlaces: new SecretPlaces(),
    tree: mapTree(span, []),
    ...fields,
  }
}

export function dependency(on: string, condition: Dependency['condition'] = 'service_started'): Dependency {
  return { service: on, condition, required: true, restart: false, implicit: false, span }
}
