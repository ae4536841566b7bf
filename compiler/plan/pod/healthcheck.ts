import type { Duration, Healthcheck, Service } from '../../compose/project.ts'
import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { At, Span } from '../../text/source.ts'
import type { DockerfileHealthcheck } from '../../values/dockerfile.ts'
import type { PlanContext } from '../context.ts'
import { builtImage } from './built-image.ts'

const imageCheck = diagnostic({
  code: 'healthcheck/image-check',
  severity: 'warning',
  loss: true,
  explain:
    'The healthcheck has timings but no test: Compose then runs the HEALTHCHECK of the image. Kubernetes ignores that instruction. Write the test here.',
  text: () => ({
    message: 'the healthcheck has no `test`, and Kubernetes ignores the HEALTHCHECK of the image',
    hint: 'repeat the test of the image as `test`, or use `http`',
  }),
})

const fromDockerfile = diagnostic({
  code: 'healthcheck/from-dockerfile',
  severity: 'info',
  explain: `Kubernetes ignores the HEALTHCHECK of an image. This service has \`build\`, so devctl read the HEALTHCHECK from the Dockerfile and made it a readiness probe, as if it were in the Compose file. If the service overrides the program of its image, it is used only if another service waits with \`service_healthy\`.

\`\`\`yaml
healthcheck:
  disable: true    # no probe
\`\`\``,
  text: (p: { service: string }) => ({
    message: `the readiness probe of \`${p.service}\` is the HEALTHCHECK of its Dockerfile`,
    hint: 'for no probe, write `healthcheck: {disable: true}`',
  }),
})

/** A healthcheck whose check is known. */
export type KnownHealthcheck = Healthcheck & { readonly check: Exclude<Healthcheck['check'], { kind: 'image' }> }

/**
 * The healthcheck of a service: the one of the file, with what it leaves to the image from the
 * Dockerfile, else the one of the Dockerfile. The latter also runs where the file replaces the
 * image's program, and an engine does not care that it fails there; a probe would, so it is used
 * only for the image's own program, or where somebody waits for it.
 */
export function healthcheckOf(context: PlanContext, service: Service): KnownHealthcheck | undefined {
  const { healthcheck, build } = service
  if (healthcheck && isKnown(healthcheck)) return healthcheck
  const ofImage = builtImage(context, service)?.healthcheck
  if (healthcheck) {
    if (ofImage)
      return { ...timings(ofImage, healthcheck.span), ...given(healthcheck), check: checkAt(ofImage, healthcheck.span) }
    context.reporter.report(imageCheck, healthcheck.span, undefined)
    return undefined
  }
  if (!ofImage || !build || ofImage.check.kind === 'none') return undefined
  const isOwnProgram = !service.command && !service.entrypoint
  if (!isOwnProgram && !context.healthAwaited.has(service.name)) return undefined
  context.reporter.report(fromDockerfile, build.span, { service: service.name })
  return {
    span: build.span,
    ...timings(ofImage, build.span),
    check: checkAt(ofImage, build.span),
    readiness: { value: true, span: build.span },
    liveness: { value: false, span: build.span },
  }
}

const isKnown = (healthcheck: Healthcheck): healthcheck is KnownHealthcheck => healthcheck.check.kind !== 'image'

function checkAt({ check }: DockerfileHealthcheck, span: Span): KnownHealthcheck['check'] {
  return check.kind === 'none' ? check : { ...check, span }
}

type Timings = Pick<Healthcheck, 'interval' | 'timeout' | 'startPeriod' | 'retries'>

function timings({ interval, timeout, startPeriod, retries }: DockerfileHealthcheck, span: Span): Timings {
  const duration = (nanoseconds: bigint | undefined): At<Duration> | undefined =>
    nanoseconds === undefined ? undefined : { value: { milliseconds: Number(nanoseconds) / 1e6 }, span }
  return {
    interval: duration(interval),
    timeout: duration(timeout),
    startPeriod: duration(startPeriod),
    retries: retries === undefined ? undefined : { value: retries, span },
  }
}

/** What the file says, without the keys that it leaves out. */
const given = (healthcheck: Healthcheck): Healthcheck =>
  // Leaving out undefined values does not change what a healthcheck is.
  Object.fromEntries(Object.entries(healthcheck).filter(([, value]) => value !== undefined)) as unknown as Healthcheck
