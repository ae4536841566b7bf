import { describe, expect, test } from 'vitest'
import type { Builder, ImageInput } from '../../../adapters/buildkit/builder.ts'
import { BuilderError, BuildFailure } from '../../../adapters/buildkit/failure.ts'
import type { BuildEvent } from '../../../builds/events.ts'
import type { PlannedBuild } from '../../../builds/plan/planned-build.ts'
import { runBuilds } from '../../../builds/run-builds.ts'
import { imageInput } from '../../support/buildkit/input.ts'

const planned = (service: string, ...dependsOn: readonly string[]): PlannedBuild => ({
  service,
  // Only diagnostics use it.
  span: undefined as never,
  reference: `r.example.com/${service}:1`,
  contentReference: `r.example.com/${service}:1`,
  tags: [],
  dependsOn,
  specOf: () => imageInput({}) as never,
})

type Build = (service: string, attempt: number) => Promise<string>

/** Runs builds whose target is the name of the service; `build` is what the builder does for each. */
async function runWith(
  builds: readonly PlannedBuild[],
  build: Build,
  { signal = new AbortController().signal, known = new Map<string, string>(), back = async () => {} } = {},
) {
  const events: string[] = []
  const attempts = new Map<string, number>()
  const builder: Builder = {
    name: 'a builder',
    close: () => {},
    back,
    async build({ target = '' }) {
      const attempt = (attempts.get(target) ?? 0) + 1
      attempts.set(target, attempt)
      return { digest: await build(target, attempt) }
    },
  }
  const seen = new Map<string, readonly string[]>()
  const inputOf = ({ service, dependsOn }: PlannedBuild, images: ReadonlyMap<string, string>): ImageInput => {
    seen.set(
      service,
      dependsOn.map(one => images.get(one) ?? 'nothing'),
    )
    return imageInput({ target: service })
  }
  const on = (event: BuildEvent) => {
    if (event.type === 'build-ended') events.push(`${event.name} ${event.outcome}`)
    else if (event.type === 'build-retry') events.push(`${event.name} retry ${event.attempt}/${event.of}`)
    else events.push(`${event.name} ${event.type.slice('build-'.length)}`)
  }
  const world = { builder, signal, on, credentials: async () => undefined, now: () => 0, pause: async () => {} }
  return { ends: await runBuilds(builds, inputOf, known, world), events, seen, attempts }
}

const digest = `sha256:${'a'.repeat(64)}`

describe('builds', () => {
  test('a build runs after the builds that it needs, and gets their digests', async () => {
    const all = [planned('api', 'base', 'tools'), planned('base')]
    const known = new Map([['tools', 'r.example.com/tools:2']])
    const { ends, events, seen } = await runWith(all, async () => digest, { known })
    expect(events).toEqual(['base begun', 'base built', 'api begun', 'api built'])
    expect(seen.get('api')).toEqual([`r.example.com/base:1@${digest}`, 'r.example.com/tools:2'])
    expect([...ends.keys()]).toEqual(['api', 'base'])
  })

  test('builds that do not need each other run at the same time', async () => {
    let running = 0
    let most = 0
    let release = () => {}
    const all = new Promise<void>(resolve => {
      release = resolve
    })
    await runWith([planned('a'), planned('b'), planned('c')], async () => {
      most = Math.max(most, ++running)
      if (running === 3) release()
      await all
      running--
      return digest
    })
    expect(most).toBe(3)
  })

  test('builds continue when another one fails, except those that need it', async () => {
    const all = [planned('web'), planned('base'), planned('api', 'base'), planned('worker', 'api')]
    const { ends, events } = await runWith(all, async service => {
      if (service === 'base') throw new BuilderError('refused', 'no')
      return digest
    })
    expect(events.filter(text => !text.endsWith('begun')).sort()).toEqual([
      'api skipped',
      'base failed',
      'web built',
      'worker skipped',
    ])
    expect(ends.get('worker')).toEqual({ kind: 'skipped', needs: 'api' })
  })

  test('a build has three attempts if its failure may be temporary', async () => {
    const lost = async (_: string, attempt: number) => {
      if (attempt < 3) throw new BuilderError('lost', 'the connection was lost')
      return digest
    }
    const { ends, events } = await runWith([planned('web')], lost)
    expect(ends.get('web')).toEqual({ kind: 'built', digest })
    expect(events).toEqual(['web begun', 'web retry 2/3', 'web retry 3/3', 'web built'])
    const { attempts } = await runWith([planned('web')], async () => {
      throw new BuilderError('lost', 'the connection was lost')
    })
    expect(attempts.get('web')).toBe(3)
  })

  test('a build waits for the builder before an attempt, and a failed wait counts as an attempt', async () => {
    const waits: string[] = []
    const build = async (_: string, attempt: number) => {
      waits.push(`attempt ${attempt}`)
      if (attempt === 1) throw new BuilderError('lost', 'the connection was lost')
      return digest
    }
    const back = async () => {
      waits.push('wait')
      if (waits.length === 2) throw new BuilderError('lost', 'it was not back')
    }
    const { ends, events } = await runWith([planned('web')], build, { back })
    expect(waits).toEqual(['attempt 1', 'wait', 'wait', 'attempt 2'])
    expect(events).toEqual(['web begun', 'web retry 2/3', 'web retry 3/3', 'web built'])
    expect(ends.get('web')).toEqual({ kind: 'built', digest })
  })

  test('a build is tried again if a registry was busy during a step', async () => {
    const { ends, attempts } = await runWith([planned('web')], async (_, attempt) => {
      if (attempt === 1) throw new BuildFailure('429', { isTransient: true })
      return digest
    })
    expect(ends.get('web')).toMatchObject({ kind: 'built' })
    expect(attempts.get('web')).toBe(2)
  })

  test('a build is not tried again if it is wrong itself', async () => {
    const { attempts } = await runWith([planned('web')], async () => {
      throw new BuilderError('refused', 'unknown attribute')
    })
    expect(attempts.get('web')).toBe(1)
  })

  test('aborted builds are awaited until each has cleaned up', async () => {
    const stop = new AbortController()
    let hasCleanedUp = false
    const running = runWith(
      [planned('quick'), planned('slow')],
      async service => {
        stop.abort(new Error('enough'))
        if (service === 'slow') {
          await new Promise(resolve => setTimeout(resolve, 50))
          hasCleanedUp = true
        }
        throw new Error('cancelled')
      },
      { signal: stop.signal },
    )
    await expect(running).rejects.toThrow('enough')
    expect(hasCleanedUp).toBe(true)
  })

  test('builds end with the reason of the signal', async () => {
    const stop = new AbortController()
    const running = runWith(
      [planned('web'), planned('api', 'web')],
      async () => {
        stop.abort(new Error('enough'))
        throw new Error('cancelled')
      },
      { signal: stop.signal },
    )
    await expect(running).rejects.toThrow('enough')
  })
})
