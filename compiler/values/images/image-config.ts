import type { DockerfileHealthcheck, DockerfileImage } from '../dockerfile/dockerfile.ts'

/**
 * The fields that devctl uses of an image's configuration, in the form that registries and builders return
 * (https://github.com/opencontainers/image-spec/blob/main/config.md; `Healthcheck` is Docker's).
 */
export interface ImageConfig {
  readonly User?: string | null
  readonly ExposedPorts?: Readonly<Record<string, unknown>> | null
  readonly WorkingDir?: string | null
  readonly Entrypoint?: readonly string[] | null
  readonly Cmd?: readonly string[] | null
  readonly Volumes?: Readonly<Record<string, unknown>> | null
  readonly Healthcheck?: {
    readonly Test?: readonly string[] | null
    /** Interval in nanoseconds; zero means the default. The same applies to the other durations. */
    readonly Interval?: number
    readonly Timeout?: number
    readonly StartPeriod?: number
    readonly StartInterval?: number
    readonly Retries?: number
  } | null
}

/** The program that an image starts. */
export type ImageProgram = Pick<ImageConfig, 'Entrypoint' | 'Cmd'>

/** Facts about the image of a service, from its Dockerfile or from the configuration of the image. */
export type ImageFacts = Pick<DockerfileImage, 'exposed' | 'user' | 'volumes' | 'healthcheck' | 'workdir'>

const PORT = /^(\d{1,5})(?:\/(tcp|udp|sctp))?$/i

/** Returns the facts in an image's configuration, including facts from its base images. Ignores malformed ports. */
export function factsOfConfig(config: ImageConfig): ImageFacts {
  const { User, WorkingDir, ExposedPorts, Volumes } = config
  const healthcheck = healthcheckOf(config)
  return {
    exposed: Object.keys(ExposedPorts ?? {})
      .flatMap(readPort)
      .sort((a, b) => a.port - b.port || (a.protocol < b.protocol ? -1 : 1)),
    volumes: Object.keys(Volumes ?? {}).sort(),
    ...(User && { user: User }),
    ...(WorkingDir && { workdir: WorkingDir }),
    ...(healthcheck && { healthcheck }),
  }
}

function readPort(text: string): ImageFacts['exposed'] {
  const [, digits, protocol = 'tcp'] = PORT.exec(text) ?? []
  const port = Number(digits)
  // The regular expression allows no other protocols.
  return port >= 1 && port <= 65_535 ? [{ port, protocol: protocol.toLowerCase() as 'tcp' | 'udp' | 'sctp' }] : []
}

function healthcheckOf({ Healthcheck: found }: ImageConfig): DockerfileHealthcheck | undefined {
  const [kind, ...words] = found?.Test ?? []
  const check = checkOf(kind, words)
  if (!found || !check) return undefined
  const duration = (value: number | undefined) => (value && value > 0 ? BigInt(Math.round(value)) : undefined)
  const durations = {
    interval: duration(found.Interval),
    timeout: duration(found.Timeout),
    startPeriod: duration(found.StartPeriod),
    startInterval: duration(found.StartInterval),
  }
  return {
    check,
    ...Object.fromEntries(Object.entries(durations).filter(([, value]) => value !== undefined)),
    ...(found.Retries && { retries: found.Retries }),
  }
}

function checkOf(kind: string | undefined, words: readonly string[]): DockerfileHealthcheck['check'] | undefined {
  switch (kind) {
    case 'NONE':
      return { kind: 'none' }
    case 'CMD':
      return words.length > 0 ? { kind: 'exec', command: words } : undefined
    case 'CMD-SHELL':
      return words[0] ? { kind: 'shell', script: words[0] } : undefined
  }
  return undefined
}
