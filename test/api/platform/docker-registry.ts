import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findProgram } from '../../../adapters/process/find-program.ts'
import { eventually } from '../../support/cluster/cluster.ts'

/** A registry (distribution) that believes the tokens of a platform. */
export interface TestRegistry {
  /** Returns the registry's output. */
  readonly log: () => string
  close(): Promise<void>
}

export interface TrustedPlatform {
  readonly port: number
  /** URL to which the registry sends its clients for tokens. */
  readonly realm: string
  readonly service: string
  readonly issuer: string
  /** Certificate as PEM. */
  readonly certificate: string
}

/** The program as distributions package it; undefined where there is none. */
export const findRegistry = (): string | undefined =>
  ['docker-registry', 'registry'].map(name => findProgram(name, process.env)).find(file => file !== undefined)

export async function startRegistry(
  program: string,
  { port, realm, service, issuer, certificate }: TrustedPlatform,
): Promise<TestRegistry> {
  const folder = mkdtempSync(join(tmpdir(), 'devctl-registry-'))
  mkdirSync(join(folder, 'data'))
  writeFileSync(join(folder, 'tls.crt'), certificate)
  const config = {
    version: '0.1',
    log: { level: 'info' },
    storage: { filesystem: { rootdirectory: join(folder, 'data') }, delete: { enabled: true } },
    http: { addr: `127.0.0.1:${port}`, secret: 'for tests' },
    auth: { token: { realm, service, issuer, rootcertbundle: join(folder, 'tls.crt') } },
  }
  // YAML is a superset of JSON.
  writeFileSync(join(folder, 'config.yml'), JSON.stringify(config))
  const child = spawn(program, ['serve', join(folder, 'config.yml')], { stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(child, 'exit')
  let log = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      log = (log + text).slice(-20_000)
    })
  const close = async () => {
    child.kill()
    await ended
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await eventually(
      'the registry answers',
      () =>
        fetch(`http://127.0.0.1:${port}/v2/`).then(
          answer => (answer.status === 401 ? true : undefined),
          () => undefined,
        ),
      { explain: async () => log },
    )
  } catch (error) {
    await close()
    throw error
  }
  return { log: () => log, close }
}
