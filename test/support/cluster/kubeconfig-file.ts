import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'yaml'

type Fields = Record<string, unknown>

/** A kubeconfig as its file has it. */
export interface KubeconfigFile {
  readonly clusters: { readonly name: string; cluster: Fields }[]
  readonly users: { readonly name: string; user: Fields }[]
}

/** Writes the kubeconfig of KUBECONFIG with some things changed into a file of its own, and gives its path. */
export function writeKubeconfig(change: (config: KubeconfigFile) => void): string {
  const config: KubeconfigFile = parse(readFileSync(process.env.KUBECONFIG!, 'utf8'))
  change(config)
  const file = join(mkdtempSync(join(tmpdir(), 'devctl-kubeconfig-')), 'config')
  writeFileSync(file, JSON.stringify(config), { mode: 0o600 })
  return file
}
