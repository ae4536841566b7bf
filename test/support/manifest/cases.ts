import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { type ReadManifest, readManifest } from '../../../compiler/manifest/read.ts'
import { createHost } from '../../../project/node-host.ts'
import { root } from '../cases.ts'

/** A folder with a manifest, and the options to read it. */
export interface ManifestCase {
  readonly name: string
  readonly directory: string
  /** Name of the manifest: `devctl.yml`, or `okteto.yml` for one of Okteto. */
  readonly file: string
  readonly env: Readonly<Record<string, string>>
  readonly environment?: string
}

/** The content of `options.yml` of a case. */
interface Options {
  readonly env?: Readonly<Record<string, string>>
  readonly environment?: string
}

/** The folders of golden/manifest, sorted. */
export function manifestCases(): readonly ManifestCase[] {
  const folder = join(root, 'golden/manifest')
  return readdirSync(folder)
    .sort()
    .map(name => {
      const directory = join(folder, name)
      const file = join(directory, 'options.yml')
      // The file is in this repository and follows the interface.
      const options = (existsSync(file) ? parse(readFileSync(file, 'utf8')) : {}) as Options
      return {
        name,
        directory,
        file: existsSync(join(directory, 'okteto.yml')) ? 'okteto.yml' : 'devctl.yml',
        env: options.env ?? {},
        ...(options.environment && { environment: options.environment }),
      }
    })
}

/** Reads the manifest of a case. */
export function readCase({ directory, file, env, environment }: ManifestCase): ReadManifest {
  return readManifest(
    {
      path: join(directory, file),
      workingDirectory: directory,
      ...(environment && { environment }),
    },
    createHost({ env }),
  )
}
