import { readdirSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { readFile } from '../adapters/files/read-file.ts'
import { realPath } from '../adapters/files/real-path.ts'
import type { CompilerHost, DirectoryEntry, FileStat, Outside } from '../compiler/host.ts'
import { type Boundary, outsideOf } from './boundary.ts'
import { hashBuild, type Parts } from './hashes/build-hash.ts'
import { createCheckouts } from './hashes/checkout.ts'
import type { Workspace } from './workspace.ts'

export interface HostOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Variables that are secret regardless of their names. */
  readonly secretVariables?: ReadonlySet<string>
  /** Variables that commands have exported; they take precedence over the shell. */
  readonly handedVariables?: ReadonlyMap<string, string>
  /** User-defined variables of the platform, used as a fallback after all other sources. */
  readonly platformVariables?: ReadonlyMap<string, string>
  /** Called with the absolute path and the bytes of each file that is read. */
  readonly onRead?: (path: string, bytes: Uint8Array) => void
  /** Called with the absolute path of each file or folder that does not exist, but would be used if it did. */
  readonly onMissing?: (path: string) => void
  /** Contents that are read instead of the files on disk, by absolute path. */
  readonly unsaved?: ReadonlyMap<string, string | Uint8Array>
  /** Paths that may be read; if absent, everything may be read. */
  readonly boundary?: Boundary
}

/**
 * Returns the options of `createHost` for the variables of a workspace. Order of precedence: variables exported by
 * commands, the shell and `--var`, the platform.
 */
export const variablesFor = ({
  env,
  givenVariables,
  handedVariables,
  platformVariables,
}: Workspace): Pick<HostOptions, 'env' | 'secretVariables' | 'handedVariables' | 'platformVariables'> => ({
  env,
  ...(givenVariables && { secretVariables: givenVariables }),
  ...(handedVariables && { handedVariables }),
  ...(platformVariables && { platformVariables }),
})

/** Returns the host for the compiler: this machine's files and the variables of a process. */
export function createHost({
  env,
  secretVariables,
  handedVariables = new Map(),
  platformVariables = new Map(),
  onRead,
  onMissing,
  boundary,
  unsaved,
}: HostOptions): CompilerHost {
  const ofShell = (name: string) => (Object.hasOwn(env, name) ? env[name] : undefined)
  const own = (name: string) => handedVariables.get(name) ?? ofShell(name)
  const contexts = new Map<string, readonly Parts[]>()
  const known = new Map<string, Outside | undefined>()
  const outside = (path: string) => {
    if (boundary && !known.has(path)) known.set(path, outsideOf(path, boundary))
    return known.get(path)
  }
  // Callers check this first and report the reason; this protects against callers that forgot to.
  const isClosed = (path: string) => ['system', 'refused'].includes(outside(path)?.is ?? '')
  return {
    outside,
    readFile(path) {
      if (isClosed(path)) return { kind: 'unreadable', reason: 'it is outside the project' }
      const own = unsaved?.get(path)
      const content = own === undefined ? readFile(path) : ({ kind: 'file', bytes: Buffer.from(own) } as const)
      if (content.kind === 'file') onRead?.(path, content.bytes)
      if (content.kind === 'missing') onMissing?.(path)
      return content
    },
    readDirectory,
    stat(path) {
      const found = stat(path)
      if (!found) onMissing?.(path)
      return found
    },
    realPath: path => realPath(path) ?? path,
    variable(name) {
      const value = own(name)
      if (value !== undefined) return { value, source: 'shell' }
      const platform = platformVariables.get(name)
      return platform === undefined ? undefined : { value: platform, source: 'platform' }
    },
    environment: { get: own },
    ...(secretVariables && { secretVariables }),
    hashBuild: (input, spend) =>
      hashBuild(input, { ...(spend && { spend }), mayRead: path => !isClosed(path), known: contexts }),
    now: () => process.uptime() * 1000,
    homeDirectory: ofShell('HOME') ?? homedir(),
    checkout: createCheckouts(env),
  }
}

function readDirectory(path: string): readonly DirectoryEntry[] | undefined {
  try {
    return readdirSync(path, { withFileTypes: true })
      .map((entry): DirectoryEntry => {
        const kind = entry.isSymbolicLink() ? (stat(join(path, entry.name))?.kind ?? 'other') : kindOf(entry)
        return { name: entry.name, kind }
      })
      .sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch {
    return undefined
  }
}

function stat(path: string): FileStat | undefined {
  try {
    const found = statSync(path)
    const kind = kindOf(found)
    return { kind, size: kind === 'file' ? found.size : 0 }
  } catch {
    return undefined
  }
}

function kindOf(entry: { isFile(): boolean; isDirectory(): boolean }): 'file' | 'folder' | 'other' {
  return entry.isFile() ? 'file' : entry.isDirectory() ? 'folder' : 'other'
}
