import type { Guess, Recognised } from '../application.ts'
import type { ProjectFiles } from '../project-files.ts'
import { portInSources } from '../source-port.ts'
import { firstLine, version } from './versions.ts'

export function recogniseRust(files: ProjectFiles): Recognised | undefined {
  if (!files.has('Cargo.toml')) return undefined
  const port = portInSources(files, ['.rs'])
  return {
    title: 'Rust',
    marker: 'Cargo.toml',
    image: imageOf(files),
    commands: [{ value: 'cargo run', from: 'Cargo.toml' }],
    ...(port && { port }),
    caches: ['/usr/local/cargo/registry'],
    ignores: ['target'],
  }
}

function imageOf(files: ProjectFiles): Guess<string> {
  const toolchain = files.text('rust-toolchain.toml')
  const channel = toolchain
    ? /^\s*channel\s*=\s*["']([\d.]+)/m.exec(toolchain)?.[1]
    : firstLine(files.text('rust-toolchain'))
  const pinned = version(channel, 2)
  if (pinned !== undefined)
    return { value: `rust:${pinned}`, from: toolchain ? 'rust-toolchain.toml' : 'rust-toolchain' }
  // `rust-version` in Cargo.toml is the oldest compiler that can build the project; a newer one can, too.
  return { value: 'rust:1' }
}
