import { relative } from 'node:path/posix'

/** Formats a path as in the file: relative to the project if the project contains it. */
export function shown(path: string, directory: string): string {
  if (!isInside(path, directory)) return path
  return `./${relative(directory, path)}`.replace(/\/$/, '')
}

export function isInside(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith('/') ? directory : `${directory}/`)
}

/** Returns a path relative to the home folder; undefined for paths outside it. */
export function inHome(path: string, home: string | undefined): string | undefined {
  // The home folder of system users may be `/`, which does not count.
  return home !== undefined && home !== '/' && isInside(path, home) ? relative(home, path) : undefined
}

/** Matches folders with links to the disks of a node, which monitoring agents read. */
const DISKS = /^\/dev\/disk(\/by-[a-z]+)?\/?$/

/** True for sockets, devices and time files, for which a node has no substitute. */
export const isSpecial = (path: string): boolean =>
  /\.sock(et)?$/.test(path) ||
  (/^\/dev(\/|$)/.test(path) && !DISKS.test(path)) ||
  /^\/etc\/(localtime|timezone)$/.test(path)

/** True for folders of an operating system: https://refspecs.linuxfoundation.org/FHS_3.0/fhs/index.html */
export const isSystem = (path: string): boolean => path === '/' || DISKS.test(path) || systemPaths.test(path)

const systemPaths = new RegExp(
  `^/(${[
    'proc|sys|lib|lib32|lib64|boot|bin|sbin|usr|run',
    'var/(run|log|lib/(docker|containerd|kubelet|containers))',
    'etc/(passwd|group|shadow|hosts|hostname|resolv\\.conf|os-release|machine-id|ssl|ca-certificates|kubernetes|systemd)',
  ].join('|')})(/|$)`,
)
