import type { ContainerMount, ContainerPlan, ContainerSecurity } from '../../compiler/plan/plan.ts'
import { quote } from '../../compiler/values/shell-words.ts'
import { fillScript } from '../pod/fill.ts'
import { helperContainer } from '../pod/helper.ts'
import { busybox } from '../pod/tools.ts'
import { USER_FILE } from './agent.ts'
import {
  FILL_CONTAINER,
  FILLED_FILE,
  RUN_PATH,
  RUN_VOLUME,
  SYNC_VOLUME,
  TOOLS_VOLUME,
  USER_CONTAINER,
} from './names.ts'
import { INSTALL } from './scripts.ts'
import type { MirrorFacts, VolumeFolder } from './settings.ts'
import { asksForUser, fillSecurity, NOBODY, placesSecurity, type RunsAs, restricted } from './user.ts'

/** Folders of the volume that the containers of a Pod mount, and the owner of the folders. */
export interface Places {
  /** Folders, with their paths in the container and in the volume. */
  readonly folders: readonly VolumeFolder[]
  /** User who owns the folders. */
  readonly identity: RunsAs
  /** True if the root of the volume belongs to root and has to be given to the user. */
  readonly needsOwner: boolean
}

/** An image with its pull policy. */
interface Image {
  readonly image: string
  readonly imagePullPolicy: ContainerPlan['imagePullPolicy']
}

/**
 * Returns the container that installs busybox and the scripts for all containers. With `places`, the container also
 * creates the mounted folders of the volume, because the kubelet would create a missing folder as root.
 */
export function toolsContainer({ toolsImage }: Pick<MirrorFacts, 'toolsImage'>, places?: Places): ContainerPlan {
  return tools(toolsImage, {
    script: places ? makePlaces(places) : '',
    mounts: places ? [VOLUME] : [],
    security: places ? placesSecurity(places.identity, places.needsOwner) : restricted(NOBODY),
  })
}

/** Returns the tools container of an additional Pod, which waits until the volume has been synchronized once. */
export function waitingToolsContainer({ toolsImage }: Pick<MirrorFacts, 'toolsImage'>): ContainerPlan {
  return tools(toolsImage, {
    // Process 1 of a container ignores signals without a handler.
    script: `trap 'exit 143' TERM INT\nuntil [ -e ${VOLUME.path}/.devctl/synced ]; do sleep 0.2; done\n`,
    mounts: [{ ...VOLUME, readOnly: true }],
    security: restricted(NOBODY),
  })
}

function tools(
  image: string,
  more: {
    readonly script: string
    readonly mounts: readonly ContainerMount[]
    readonly security: ContainerSecurity
  },
): ContainerPlan {
  return helperContainer({
    name: TOOLS_VOLUME,
    image,
    command: ['sh', '-c', `${INSTALL}${more.script}`],
    mounts: [TOOLS, ...more.mounts],
    security: more.security,
  })
}

/** Mount of the tools in the tools and fill containers. */
const TOOLS: ContainerMount = { volume: TOOLS_VOLUME, path: '/devctl' }
/** Mount of the entire volume, as the fill script expects it. */
const VOLUME: ContainerMount = { volume: SYNC_VOLUME, path: '/devctl-volume' }
const RUN: ContainerMount = { volume: RUN_VOLUME, path: RUN_PATH }

function makePlaces({ folders, identity, needsOwner }: Places): string {
  const give = giving(identity, needsOwner)
  const all = new Set(['.devctl', ...folders.filter(one => !one.isFile).flatMap(one => withParents(one.directory))])
  const files = folders.filter(({ isFile }) => isFile).map(({ directory }) => directory)
  for (const file of files) for (const above of withParents(file).slice(0, -1)) all.add(above)
  const missing = (places: Iterable<string>, make: string) =>
    `for place in ${[...places].map(quote).join(' ')}; do if [ ! -e "$place" ]; then ${make} "$place"${give && `; ${give} "$place"`}; fi; done\n`
  return [
    `cd ${VOLUME.path}\n`,
    needsOwner ? `${give} .\n` : '',
    missing(all, `${busybox} mkdir`),
    files.length === 0 ? '' : missing(files, `${busybox} touch`),
  ].join('')
}

/**
 * Returns the command that gives files created by root to the user, or makes them writable for all users if the user is
 * unknown. Returns an empty text if neither is necessary or possible.
 */
function giving(identity: RunsAs, needsOwner: boolean): string {
  if (identity.kind === 'unknown') return identity.rootAllowed ? `${busybox} chmod 0777` : ''
  const { uid, gid = uid } = identity.user
  return needsOwner ? `${busybox} chown ${uid}:${gid}` : ''
}

/** Returns all parent paths of a path, outermost first, and the path itself. */
function withParents(path: string): readonly string[] {
  const names = path.split('/')
  return names.map((_, index) => names.slice(0, index + 1).join('/'))
}

/**
 * Returns the container that copies folders of the image into the volume if the volume's folders are empty. With
 * `stays`, it runs next to the other containers and does not end, because a container of a Deployment cannot end. It
 * runs as the user of the image, and reports this user to the agent if devctl does not know the user.
 */
export function fillContainer(
  { image, imagePullPolicy }: Image,
  folders: readonly VolumeFolder[],
  identity: RunsAs,
  { stays, reset }: { readonly stays: boolean; readonly reset: string | undefined },
): ContainerPlan {
  const { rootless, security } = fillSecurity(identity)
  const fills = folders
    .filter(({ isFile }) => !isFile)
    .map(({ directory, path }, index) => {
      const fill = { directory, path, rootless }
      const script = fillScript(fill, `fill-${index}`)
      // Cache folders keep their content; a sync folder is updated with its image.
      if (!directory.startsWith('src/')) return `${busybox} sh -c ${quote(script)}\n`
      return recorded(`${busybox} sh -c ${quote(script)}`, image, fill)
    })
  const first = `set -e\n${asksForUser(identity) ? TELL_USER : ''}${reset === undefined ? '' : resetScript(reset, folders)}`
  const script = `${first}${fills.join('')}${busybox} touch ${FILLED_FILE}\n`
  return helperContainer({
    name: FILL_CONTAINER,
    image,
    imagePullPolicy,
    command: [busybox, 'sh', '-c', `${script}${stays ? STAY : ''}`],
    mounts: [TOOLS, VOLUME, RUN],
    security: rootless ? security : { ...security, runAsUser: 0 },
  })
}

/**
 * Returns a script that fills a sync folder and records the image that it was filled from. If the image has changed,
 * the script copies the folder of the new image next to the sync folder, for the agent. The agent knows which files
 * have not been modified since the folder was filled.
 */
function recorded(fill: string, image: string, { directory, path, rootless }: FillWish): string {
  const name = directory.slice('src/'.length)
  return `\
(
cd ${VOLUME.path}/.devctl
b=${busybox} from=${quote(path)} image=${quote(image)} name=${quote(name)}
"$b" rm -rf "new-$name" "new-$name.image" "new-$name.part"
if [ ! -e "filled-$name" ]; then
  if ! "$b" ls -A "../src/$name" | "$b" grep -q .; then "$b" touch "filling-$name"; fi
  ${fill} || exit 1
  if [ -e "filling-$name" ]; then printf %s "$image" > "filled-$name"; "$b" rm "filling-$name"; fi
elif [ "$("$b" cat "filled-$name")" != "$image" ]; then
  if [ -d "$from" ]; then "$b" ${rootless ? 'cp -R' : 'cp -a'} "$from/" "new-$name.part" || exit 1; else "$b" mkdir "new-$name.part"; fi
  printf %s "$image" > "new-$name.image" && "$b" mv "new-$name.part" "new-$name" || exit 1
fi
) || exit 1
`
}

interface FillWish {
  readonly directory: string
  readonly path: string
  readonly rootless: boolean
}

/**
 * Returns a script that empties the sync folders and the volume's records, once for each value of `reset`. Keeps the
 * folders themselves, because they are mounted.
 */
function resetScript(reset: string, folders: readonly VolumeFolder[]): string {
  const all = folders.filter(({ directory, isFile }) => !isFile && directory.startsWith('src/'))
  return `\
(
cd ${VOLUME.path}
b=${busybox}
if [ "$("$b" cat .devctl/reset 2>/dev/null)" != ${reset} ]; then
  for place in ${all.map(({ directory }) => quote(directory)).join(' ')} .devctl; do
    "$b" find "$place" -mindepth 1 -maxdepth 1 -exec ${busybox} rm -rf {} \\; || exit 1
  done
  printf %s ${reset} > .devctl/reset
fi
) || exit 1
`
}

/**
 * Script that writes the user as whom it runs to `USER_FILE`. It writes another file and then renames it, because the
 * agent reads `USER_FILE` as soon as it exists.
 */
const TELL_USER = `\
${busybox} printf %s:%s "$(${busybox} id -u)" "$(${busybox} id -g)" > ${USER_FILE}.new
${busybox} mv ${USER_FILE}.new ${USER_FILE}
`

const STAY = `\
trap 'exit 0' TERM INT
while :; do ${busybox} sleep 86400 & wait "$!"; done
`

/**
 * Returns the container that writes the user of the image to its termination message and ends. The laptop reads the
 * message and then starts another Pod.
 */
export function userContainer({ image, imagePullPolicy }: Image, places: Places): ContainerPlan {
  const script = `set -e\nb=${busybox}\n"$b" printf %s:%s "$("$b" id -u)" "$("$b" id -g)" > /dev/termination-log\n`
  return helperContainer({
    name: USER_CONTAINER,
    image,
    imagePullPolicy,
    command: [busybox, 'sh', '-c', `${script}${makePlaces(places)}`],
    mounts: [TOOLS, VOLUME],
    security: restricted(),
  })
}
