import type { ContainerPlan, FillOwner, FillPlan, PodPlan } from '../../compiler/plan/plan.ts'
import { quote } from '../../compiler/values/shell-words.ts'
import { helperContainer, helperSecurity, type TakenNames, takeName } from './helper.ts'
import { busybox, type Tools } from './tools.ts'

/**
 * Returns the init containers that fill empty volumes from the image, one for each directory, in the order of the plan.
 */
export function fillContainers(
  plan: Pick<PodPlan, 'fills' | 'runAsNonRoot'>,
  tools: Tools | undefined,
  taken: TakenNames,
): ContainerPlan[] {
  return plan.fills.map(fill => {
    if (!tools) throw new Error(`the volume ${fill.volume} is filled without tools`)
    const name = takeName(`${fill.isEmpty ? 'own' : 'fill'}-${fill.volume}`, taken.containers)
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
 * Returns a script that copies the image's directory next to the volume's directory, renames the copy to mark it as
 * complete, and moves its content into the volume's directory. If the script is killed before the rename, the volume
 * stays empty; if it is killed after the rename, the next start continues moving before the service starts. The
 * volume's directory itself is never replaced, because another Pod may have mounted it and would keep the deleted
 * directory. Several Pods may run the script at the same time, but only one of their copies gets the final name. The
 * slash after the source makes `cp` follow a directory that is a link. Without root, the Pod's fsGroup determines the
 * group of the files.
 */
export function fillScript(
  fill: Pick<FillPlan, 'directory' | 'path' | 'rootless' | 'owner' | 'isEmpty'>,
  name: string,
): string {
  const copy = fill.rootless ? 'cp -R' : 'cp -a'
  // busybox prints no error for a directory that it may not read.
  const failed = fill.rootless
    ? ` || { echo "cannot copy all of $from: is it readable for this user? 'nocopy' leaves the volume empty" >&2; exit 1; }`
    : ''
  const owner = fill.rootless
    ? ''
    : `  b chown "$(b stat -c %u:%g "$whole")" "$to"\n  b chmod "$(b stat -c %a "$whole")" "$to"\n`
  const give = fill.owner ? giveDirectory(fill.owner) : ''
  if (fill.isEmpty)
    return `\
set -e
b() { ${busybox} "$@"; }
to=${quote(`./${fill.directory}`)}
cd /devctl-volume
b mkdir -p "$to"
${give}`
  return `\
set -e
b() { ${busybox} "$@"; }
from=${quote(fill.path)}
to=${quote(`./${fill.directory}`)}
new="./.${name}-$HOSTNAME"
whole="./.${name}"
cd /devctl-volume
b mkdir -p "$to"
${give}if [ ! -d "$whole" ]; then
  if b ls -A "$to" | b grep -q .; then exit 0; fi
  b rm -rf "$new"
  if [ -d "$from" ]; then
    b ${copy} "$from/" "$new"${failed}
  else
    b mkdir -m 755 "$new"
  fi
${fill.owner ? giveCopy(fill.owner) : ''}\
  if b ls -A "$to" | b grep -q .; then b rm -rf "$new"; exit 0; fi
  b mv -T "$new" "$whole"
  if b ls -A "$to" | b grep -q .; then b rm -rf "$whole"; exit 0; fi
fi
${owner && `if ! b ls -A "$to" | b grep -q .; then\n${owner}fi\n`}for entry in "$whole"/* "$whole"/.[!.]* "$whole"/..?*; do
  if [ ! -e "$entry" ] && [ ! -L "$entry" ]; then continue; fi
  if [ -e "$to/\${entry##*/}" ] || [ -L "$to/\${entry##*/}" ]; then b rm -rf "$entry"; else b mv "$entry" "$to/"; fi
done
b rmdir "$whole"
b rm -rf ./.${name}-*
`
}

/**
 * Returns commands that give the volume's directory to the user who would own the directory on the host. Changes
 * nothing if the directory belongs to a user other than root.
 */
const giveDirectory = (owner: FillOwner): string => `\
if [ "$(b stat -c %u "$to")" = 0 ]; then
${owner.isShared ? '  b chmod 777 "$to"\n' : ''}  b chown ${ownerText(owner)} "$to"
fi
`

/** Returns commands that give the copied files to the user who would own them on the host. */
const giveCopy = (owner: FillOwner): string =>
  `  b chown -hR ${ownerText(owner)} "$new"\n${owner.isShared ? '  b chmod 777 "$new"\n' : ''}`

/** Returns the owner as an argument for `chown`, which looks up the names of users and groups in the image. */
const ownerText = ({ user, group }: FillOwner): string => quote(group === undefined ? user : `${user}:${group}`)
