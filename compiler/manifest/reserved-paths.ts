const SYSTEM = ['/proc', '/sys', '/dev']
/** Paths that devctl mounts in a development container. */
const OWN = ['/run/devctl', '/devctl-tools', '/devctl-shared']

/** Returns the reason why files cannot be synchronized to a path of a development container; undefined if they can. */
export function reservedProblem(path: string): string | undefined {
  const isAt = (folder: string) => path === folder || path.startsWith(`${folder}/`)
  if (SYSTEM.some(isAt)) return `\`${path}\` is a folder of the system`
  return OWN.some(isAt) ? `\`${path}\` is a folder of devctl` : undefined
}
