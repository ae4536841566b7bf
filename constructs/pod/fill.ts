import type { ContainerPlan, FillPlan, PodPlan } from '../../compiler/plan/plan.ts'
import { helperContainer, helperSecurity, type TakenNames, takeName } from './helper.ts'
import { quote } from './shell.ts'
import { busybox, type Tools } from './tools.ts'

/** The init containers that fill empty volumes from the image, one for each directory, in the order of the plan. */
export function fillContainers(plan: PodPlan, tools: Tools | undefined, taken: TakenNames): ContainerPlan[] {
  return plan.fills.map(fill => {
    if (!tools) throw new Error(`the volume ${fill.volume} is filled without tools`)
    const name = takeName(`fill-${fill.volume}`, taken.containers)
    return helperContainer({
      name,
      image: fill.image,
      imagePullPolicy: fill.imagePullPolicy,
      command: [busybox, 'sh', '-c', fillScript(fill, name)],
      mounts: [tools.mount, { volume: fill.volume, path: '/devctl-volume' }],
      security: fill.rootless ? (fill.security ?? helperSecurity(plan)) : { ...fill.security, runAsUser: 0 },
    })
  })
}

/**
 * Copies the image's directory beside the volume's and renames it over the empty one, so that a kill at any moment leaves the volume empty
 * or full. `rmdir` and `mv -T` (busybox 1.34) fail on a directory that another Pod filled meanwhile, and the next try finds it full.
 * The slash after the source makes `cp` follow a directory that is a link. Without root, owners are left to the Pod's fsGroup.
 */
export function fillScript(fill: Pick<FillPlan, 'directory' | 'path' | 'rootless'>, name: string): string {
  const copy = fill.rootless ? 'cp -R' : 'cp -a'
  // busybox says nothing about a directory that it may not read.
  const failed = fill.rootless
    ? ` || { echo "cannot copy all of $from: is it readable for this user? 'nocopy' leaves the volume empty" >&2; exit 1; }`
    : ''
  const parent = fill.directory.includes('/') ? 'b mkdir -p "${to%/*}"\n' : ''
  return `\
set -e
b() { ${busybox} "$@"; }
from=${quote(fill.path)}
to=${quote(`./${fill.directory}`)}
new="./.${name}-$HOSTNAME"
cd /devctl-volume
if b ls -A "$to" 2>/dev/null | b grep -q .; then exit 0; fi
b rm -rf "$new"
if [ -d "$from" ]; then
  b ${copy} "$from/" "$new"${failed}
else
  b mkdir -m 755 "$new"
fi
${parent}if [ -d "$to" ]; then b rmdir "$to"; fi
b mv -T "$new" "$to"
b rm -rf ./.${name}-*
`
}
