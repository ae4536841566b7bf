import { readdirSync, readFileSync } from 'node:fs'
import { request } from 'node:http'
import { credentials, makeGenericClientConstructor, type ServiceError } from '@grpc/grpc-js'
import protobuf from 'protobufjs'
import { expect, vi } from 'vitest'
import { ENGINE } from '../../support/buildkit/buildkit.ts'
import type { SlowProject } from '../../support/buildkit/slow-project.ts'

/** Milliseconds within which a builder must have ended the builds that a client has left. */
const SOON = 60_000

/**
 * Fails if a builder still runs builds whose steps contain a text, according to the builder and to the processes of
 * this machine. The address is one of `findBuildkit` or `findEngineAddress`.
 */
export async function expectNothingRuns(address: string, text: string, what = ''): Promise<void> {
  const left = async () => ({ steps: stepsWith(text), builds: await activeBuilds(address, text) })
  await vi.waitFor(async () => expect(await left(), what).toEqual({ steps: [], builds: [] }), SOON)
}

/** Waits until both builds run their long step. */
export const runsSteps = (project: SlowProject): Promise<void> =>
  vi.waitFor(() => expect(stepsWith(project.mark).filter(line => line.startsWith('/bin/sh')).length).toBe(2), {
    timeout: 60_000,
    interval: 100,
  })

/** Returns the command lines of this machine's processes that contain a text. */
function stepsWith(text: string): readonly string[] {
  const ids = readdirSync('/proc').filter(name => /^\d+$/.test(name))
  return ids.flatMap(id => {
    try {
      const line = readFileSync(`/proc/${id}/cmdline`, 'utf8').replaceAll('\0', ' ')
      return line.includes(text) ? [line] : []
    } catch {
      return [] // It has ended.
    }
  })
}

/** Returns the active builds of a builder that contain a text: a build argument, or a step. */
const activeBuilds = (address: string, text: string): Promise<readonly string[]> =>
  address.startsWith(ENGINE) ? usedByEngine(address.slice(`${ENGINE}unix://`.length), text) : running(address, text)

/** Returns the mounts in use, which are named after their steps: older engines list no builds. */
async function usedByEngine(socketPath: string, text: string): Promise<readonly string[]> {
  const body = await new Promise<string>((resolve, reject) => {
    const sent = request({ socketPath, path: '/system/df?type=build-cache', host: 'docker' }, response => {
      let read = ''
      response
        .setEncoding('utf8')
        .on('data', piece => {
          read += piece
        })
        .on('end', () => resolve(read))
    })
    sent.on('error', reject).end()
  })
  const { BuildCache = [] } = JSON.parse(body) as { BuildCache?: { InUse: boolean; Description: string }[] | null }
  return (BuildCache ?? [])
    .filter(one => one.InUse && one.Description.includes(text))
    .map(({ Description }) => Description)
}

const { root } = protobuf.parse(`
  syntax = "proto3";
  message Record { string Ref = 1; map<string, string> FrontendAttrs = 3; }
  message Event { Record record = 2; }
  message Request { bool ActiveOnly = 1; bool EarlyExit = 3; }
`)
const [REQUEST, EVENT] = [root.lookupType('Request'), root.lookupType('Event')]

/** BuildKit call that lists builds. */
const CONTROL = {
  ListenBuildHistory: {
    path: '/moby.buildkit.v1.Control/ListenBuildHistory',
    requestStream: false,
    responseStream: true,
    requestSerialize: (value: object) => Buffer.from(REQUEST.encode(REQUEST.create(value)).finish()),
    requestDeserialize: (bytes: Buffer) => REQUEST.decode(bytes),
    responseSerialize: (value: object) => Buffer.from(EVENT.encode(EVENT.create(value)).finish()),
    responseDeserialize: (bytes: Buffer) => EVENT.decode(bytes),
  },
}

interface BuildRecord {
  readonly Ref: string
  readonly FrontendAttrs?: Readonly<Record<string, string>>
}

/** Returns the builds that BuildKit lists as active. */
async function running(address: string, text: string): Promise<readonly string[]> {
  const Control = makeGenericClientConstructor(CONTROL, 'Control')
  const client = new Control(address.replace(/^tcp:\/\//, ''), credentials.createInsecure())
  try {
    const events = (client as never as Record<string, (asked: object) => AsyncIterable<{ record?: BuildRecord }>>)
      .ListenBuildHistory!({ ActiveOnly: true, EarlyExit: true })
    const found: string[] = []
    for await (const { record } of events)
      if (record && JSON.stringify(record.FrontendAttrs ?? {}).includes(text)) found.push(record.Ref)
    return found
  } catch (error) {
    throw new Error(`BuildKit does not list its builds: ${(error as ServiceError).message}`)
  } finally {
    client.close()
  }
}
