import { isAbsolute, join } from 'node:path/posix'
import { mayRead } from '../project/outside.ts'
import type { Protocol, Service } from '../project/project.ts'
import { type DockerfileImage, readDockerfile } from '../values/dockerfile.ts'
import type { PlanContext } from './context.ts'

/**
 * What the Dockerfile of a built service says about its image; undefined for other services, and where no Dockerfile
 * can be read.
 */
export function builtImage(
  { host, reporter }: Pick<PlanContext, 'host' | 'reporter'>,
  { build }: Service,
): DockerfileImage | undefined {
  if (!build) return undefined
  const may = (path: string) => mayRead(host, path, build.dockerfile?.span ?? build.context.span, reporter)
  const text = build.dockerfileInline?.value ?? readText(host, may, build.context.value, build.dockerfile?.value)
  if (text === undefined) return undefined
  const args = new Map(build.args.flatMap(({ name, value }) => (value === null ? [] : [[name, value] as const])))
  return readDockerfile(text, build.target?.value, args)
}

/** The ports that the Dockerfile of a built service exposes. */
export function exposedByBuild(
  context: PlanContext,
  service: Service,
): readonly { readonly port: number; readonly protocol: Protocol }[] {
  const protocols = { tcp: 'TCP', udp: 'UDP', sctp: 'SCTP' } as const
  return (builtImage(context, service)?.exposed ?? []).map(({ port, protocol }) => ({
    port,
    protocol: protocols[protocol],
  }))
}

/** A Dockerfile of this machine; a context that is a URL is not looked at. */
function readText(
  host: PlanContext['host'],
  may: (path: string) => boolean,
  context: string,
  dockerfile = 'Dockerfile',
): string | undefined {
  if (!isAbsolute(context)) return undefined
  const path = isAbsolute(dockerfile) ? dockerfile : join(context, dockerfile)
  if (!may(path)) return undefined
  const content = host.readFile(path)
  return content.kind === 'file' ? new TextDecoder().decode(content.bytes) : undefined
}
