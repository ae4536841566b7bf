import { relative, sep } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { root } from './cases.ts'

/**
 * The files that take longest, by layer: they start first, so that no long file is left when the others are done.
 * Vitest knows the durations of earlier runs only where its cache is, which a fresh clone does not have.
 */
const LONGEST: readonly string[] = [
  'test/programs/git/publish-request.test.ts',
  'test/programs/git/publish-layouts.test.ts',
  'test/programs/git/servers-publish.test.ts',
  'test/programs/git/gitops-init.test.ts',
  'test/api/browser/pages.test.ts',
  'test/api/platform/install-options.test.ts',
  'test/api/cluster/deploy-faults.test.ts',
  'test/api/platform/deletions.test.ts',
  'test/api/platform/hooks.test.ts',
  'test/api/platform/route-access.test.ts',
  'test/pods/platform/with-pods.test.ts',
  'test/pods/develop/mirror.test.ts',
  'test/pods/cluster/docs.test.ts',
  'test/pods/develop/up-compose.test.ts',
  'test/pods/develop/up.test.ts',
  'test/pods/develop/ssh.test.ts',
  'test/pods/cluster/labelling-proxy.test.ts',
  'test/pods/buildkit/lost.test.ts',
  'test/pods/cluster/deploy-failures.test.ts',
  'test/pods/platform/networks.test.ts',
  'test/pods/develop/up-file.test.ts',
  'test/pods/develop/up-hostile.test.ts',
  'test/pods/develop/up-ends.test.ts',
  // Flux and Argo CD keep a processor busy once they are started: what measures times comes before them.
  'test/pods/alone/faults.test.ts',
  'test/pods/alone/connect.test.ts',
  'test/pods/alone/flux.test.ts',
  'test/pods/alone/argocd.test.ts',
]

/** Sorts as Vitest does, with the longest files of each project first. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const rank = ({ moduleId }: TestSpecification) => {
      const index = LONGEST.indexOf(relative(root, moduleId).replaceAll(sep, '/'))
      return index < 0 ? LONGEST.length : index
    }
    // The order of projects is kept: files of one are next to each other.
    const projects = [...new Set(sorted.map(({ project }) => project))]
    return projects.flatMap(project => sorted.filter(one => one.project === project).sort((a, b) => rank(a) - rank(b)))
  }
}
