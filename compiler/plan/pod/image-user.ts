import type { Service } from '../../compose/project.ts'
import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { PlanContext } from '../context.ts'
import type { ContainerSecurity } from '../plan.ts'
import { configuredImage } from './configured-image.ts'
import { imageFacts } from './image-facts.ts'
import { toId } from './security.ts'

const notNonRoot = diagnostic({
  code: 'security/image-user',
  severity: 'error',
  explain: `With \`--policy restricted\` no container may run as root, and Kubernetes must be able to verify that: the user of the image must be a number other than 0. This image runs as root, or its user is a name, so its container cannot start.

\`\`\`yaml
user: "1000:1000"     # id -u and id -g of the user in the image
\`\`\``,
  text: (p: { service: string; user: string | undefined }) => ({
    message:
      p.user === undefined
        ? `the image of \`${p.service}\` runs as root, which \`--policy restricted\` does not allow`
        : `the user of the image of \`${p.service}\` is the name \`${p.user}\`, so Kubernetes cannot verify that it is not root`,
    hint: 'set `user` to numbers: `docker run --rm IMAGE id` prints them',
  }),
})

/** Returns the user and group of the image, if its configuration is known and contains numbers. */
export function imageUser(
  context: Pick<PlanContext, 'options'>,
  service: Service,
): Pick<ContainerSecurity, 'runAsUser' | 'runAsGroup'> {
  const [runAsUser, runAsGroup] = (configuredImage(context, service)?.user ?? '').split(':').map(toId)
  return { ...(runAsUser !== undefined && { runAsUser }), ...(runAsGroup !== undefined && { runAsGroup }) }
}

/**
 * Returns the user and group that a service runs as, as numbers or names, from the file or the image. Returns undefined
 * for root, and if the user is not known.
 */
export function userOf(
  context: PlanContext,
  service: Service,
): { readonly user: string; readonly group?: string } | undefined {
  const [written = '', ownGroup] = (service.user?.value ?? '').split(':')
  const isOwn = toId(written) !== undefined
  const [user = '', group] = isOwn ? [written, ownGroup] : (imageFacts(context, service)?.user ?? '').split(':')
  if (user === '' || toId(user) === 0 || !USER.test(`${user}:${group ?? ''}`)) return undefined
  return { user, ...(group && { group }) }
}

/** Matches `USER:GROUP`, each as a number or name. The group may be empty. */
const USER = /^[A-Za-z0-9_][\w.-]*:[\w.-]*$/

/** Reports an image whose user `--policy restricted` does not allow, unless the file sets another user. */
export function checkImageUser(context: PlanContext, service: Service): void {
  const { options, reporter } = context
  const facts = configuredImage(context, service)
  const [written = ''] = (service.user?.value ?? '').split(':')
  if (options.policy !== 'restricted' || !facts || toId(written) !== undefined) return
  const id = imageUser(context, service).runAsUser
  if (id !== undefined && id !== 0) return
  const isRoot = id === 0 || !facts.user || facts.user.startsWith(':')
  reporter.report(notNonRoot, (service.image ?? service.build)?.span, {
    service: service.name,
    user: isRoot ? undefined : facts.user!.split(':')[0],
  })
}
