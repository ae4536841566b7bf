import { posix } from 'node:path'
import type { Manifest } from '../../constructs/manifest.ts'
import { layout } from '../../gitops/layout/layout.ts'
import { toBase } from '../../gitops/layout/overlay.ts'
import type { About } from '../../gitops/layout/readme.ts'
import type { PublishedFolder, There } from '../../gitops/publication.ts'
import type { Output } from '../../gitops/tree/change.ts'
import type { Facts } from '../../gitops/tree/lock.ts'
import type { Destination } from './destination.ts'

/** What is written for an application. */
export interface Written {
  /** DNS label. */
  readonly application: string
  readonly manifests: readonly Manifest[]
  /** What an overlay is computed against; only for the layout that has them. */
  readonly base?: readonly Manifest[]
  readonly about: About
  /** Absent: nothing is known of the source (`render`). */
  readonly facts?: Facts
  readonly takeOver: boolean
}

/** The folders of an application in a repository: its own, and with overlays the one that its environments share. */
export function foldersOf(
  { path, layout: name }: Pick<Destination, 'path' | 'layout'>,
  written: Written,
  there: There,
): readonly PublishedFolder[] {
  const { application, manifests, about, facts, takeOver } = written
  const common = {
    environment: application,
    sources: about.sources,
    index: false,
    takeOver,
  }
  const own = (files: Output['files']): PublishedFolder => ({
    path,
    output: { ...common, files, keepOthers: false, ...(facts && { facts }) },
  })
  if (name !== 'kustomize') return [own(layout(manifests, { layout: name, about }))]
  const base = toBase(written.base ?? manifests)
  const shared = sharedFolder(application)
  const basePath = posix.relative(path, `${shared}/${base.name}`)
  // Another environment may need the base that it was published with.
  const others = Object.entries(there.lock(shared)?.uses ?? {}).filter(([user]) => user !== path && there.lock(user))
  const used = new Set([base.name, ...others.map(([, one]) => one)])
  return [
    own(layout(manifests, { layout: 'kustomize', about, base: written.base ?? manifests, basePath })),
    {
      path: shared,
      output: {
        ...common,
        files: new Map([...base.files].map(([file, text]) => [`${base.name}/${file}`, text])),
        keepOthers: file => used.has(file.split('/', 1)[0]!),
        uses: Object.fromEntries([...others, [path, base.name]]),
      },
    },
  ]
}

/** The folder that the overlays of an application share. */
export const sharedFolder = (application: string): string => `apps/${application}`
