import type { Duration, Healthcheck, Service } from '../../compose/project.ts'
import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { At, Span } from '../../text/source.ts'
import type { DockerfileHealthcheck } from '../../values/dockerfile/dockerfile.ts'
import type { PlanContext } from '../context.ts'
import { checkApart } from '../secrets/values-apart.ts'
import { configuredImage } from './configured-image.ts'
import { imageFacts } from './image-facts.ts'

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
  explain: `Kubernetes ignores the HEALTHCHECK of an image. devctl read it from the Dockerfile of the service, or from the configuration of its image, and made it a readiness probe, as if it were in the Compose file. If the service overrides the program of its image, or its restart policy lets the program end, it is used only if another service waits with \`service_healthy\`.

\`\`\`yaml
healthcheck:
  disable: true    # no probe
\`\`\``,
  text: (p: { service: string; from: 'image' | 'Dockerfile' }) => ({
    message: `the readiness probe of \`${p.service}\` is the HEALTHCHECK of its ${p.from}`,
    hint: 'for no probe, write `healthcheck: {disable: true}`',
  }),
})

/** A healthcheck with a known check, as opposed to one that uses the image's check. */
export type KnownHealthcheck = Healthcheck & { readonly check: Exclude<Healthcheck['check'], { kind: 'image' }> }

/**
 * Returns the healthcheck of a service: the healthcheck of the file, with missing values from the image, or the known
 * healthcheck of the image if the file has none. An engine runs the image's healthcheck even if the file replaces the
 * image's program or the program has ended, and ignores its failures. Kubernetes does not ignore a failed probe. If the
 * file has no healthcheck, the image's healthcheck is therefore used only if the container runs the image's own program
 * and its restart policy does not let it end, or if another service waits for the healthcheck.
 */
export function healthcheckOf(context: PlanContext, service: Service): KnownHealthcheck | undefined {
  const { healthcheck } = service
  if (healthcheck && isKnown(healthcheck)) {
    const apart = checkApart(context, service)
    if (!apart) return healthcheck
    return { ...healthcheck, check: { kind: 'exec', command: apart.command, span: healthcheck.span } }
  }
  const ofImage = imageFacts(context, service)?.healthcheck
  if (healthcheck) {
    if (ofImage)
      return { ...timings(ofImage, healthcheck.span), ...given(healthcheck), check: checkAt(ofImage, healthcheck.span) }
    context.reporter.report(imageCheck, healthcheck.span, undefined)
    return undefined
  }
  const span = (service.build ?? service.image)?.span
  if (!ofImage || !span || ofImage.check.kind === 'none') return undefined
  const isOwnProgram = !service.command && !service.entrypoint
  const { policy } = service.restart
  const mayEnd = policy !== undefined && policy.value !== 'always'
  if ((!isOwnProgram || mayEnd) && !context.healthAwaited.has(service.name)) return undefined
  const from = configuredImage(context, service) ? 'image' : 'Dockerfile'
  context.reporter.report(fromDockerfile, span, { service: service.name, from })
  return {
    span,
    ...timings(ofImage, span),
    check: checkAt(ofImage, span),
    readiness: { value: true, span },
    liveness: { value: false, span },
  }
}

const isKnown = (healthcheck: Healthcheck): healthcheck is KnownHealthcheck => healthcheck.check.kind !== 'image'

function checkAt({ check }: DockerfileHealthcheck, span: Span): KnownHealthcheck['check'] {
  return check.kind === 'none' ? check : { ...check, span }
}

type Timings = Pick<Healthcheck, 'interval' | 'timeout' | 'startPeriod' | 'startInterval' | 'retries'>

function timings(ofImage: DockerfileHealthcheck, span: Span): Timings {
  const { interval, timeout, startPeriod, startInterval, retries } = ofImage
  const duration = (nanoseconds: bigint | undefined): At<Duration> | undefined =>
    nanoseconds === undefined ? undefined : { value: { milliseconds: Number(nanoseconds) / 1e6 }, span }
  return {
    interval: duration(interval),
    timeout: duration(timeout),
    startPeriod: duration(startPeriod),
    startInterval: duration(startInterval),
    retries: retries === undefined ? undefined : { value: retries, span },
  }
}

/** Removes undefined keys from a healthcheck. */
const given = (healthcheck: Healthcheck): Healthcheck =>
  // Removing undefined values does not change the type of the healthcheck.
  Object.fromEntries(Object.entries(healthcheck).filter(([, value]) => value !== undefined)) as unknown as Healthcheck
