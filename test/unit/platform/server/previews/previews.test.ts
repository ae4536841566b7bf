import { expect, test } from 'vitest'
import type { PreviewSource } from '../../../../../platform/records/preview.ts'
import type { PlatformUser } from '../../../../../platform/records/user.ts'
import { Previews } from '../../../../../platform/server/previews/previews.ts'
import type { HookCode } from '../../../../../platform/server/runs/runs.ts'

const repository = 'https://git.example.com/team/shop'
const ann = { id: 'a'.repeat(16), login: 'ann', role: 'developer' } as PlatformUser
const hook = 'h'.repeat(16)

interface Case {
  readonly name?: string
  /** Branch and webhook of the existing preview. */
  readonly there: Pick<PreviewSource, 'branch' | 'hook'>
  readonly branch?: string
  readonly code?: HookCode
}

/** Deploys to a name that an existing preview of the same repository and user has. */
async function deploy({ name, there, branch, code }: Case) {
  const namespace = (called: string) => ({
    ...{ name: called, kind: 'preview', owner: ann.id, status: 'Active' },
    preview: { repository, labels: [], ...there },
  })
  const namespaces = {
    find: async (called: string) => ({
      namespace: namespace(called),
      members: [{ namespace: called, user: ann.id, role: 'owner' }],
    }),
    renew: async () => {},
  }
  const runs = { requireRunner: () => ({}), create: async () => ({ id: 'run' }) }
  const parts = { users: {}, namespaces, runs } as unknown as ConstructorParameters<typeof Previews>[1]
  const wanted = { repository, ...(name !== undefined && { name }), ...(branch !== undefined && { branch }) }
  const made = await new Previews({ now: () => 0 }, parts).deploy({ user: ann }, wanted, code)
  return made.shared.namespace.name
}

const ofHook: HookCode = { hook, commit: 'c'.repeat(40), trust: 'repository' }

test.each<Case>([
  { there: { branch: 'feature-login' }, branch: 'feature/login' },
  { name: 'shop-feature-login', there: { branch: 'feature-login' }, branch: 'feature/login' },
  { name: 'shop-pr-7', there: { branch: 'login', hook }, branch: 'pr/7' },
  { name: 'shop-pr-7', there: { branch: 'pr-7' }, branch: 'login', code: ofHook },
  { name: 'shop-pr-7', there: { branch: 'pr-7', hook: 'other' }, branch: 'login', code: ofHook },
])('a deploy of another branch does not replace the preview with the same name: %j', async one => {
  await expect(deploy(one)).rejects.toMatchObject({
    status: 409,
    body: {
      code: 'platform/exists',
      message: expect.stringContaining(`is for the branch \`${one.there.branch}\`, not \`${one.branch}\``),
    },
  })
})

test.each<readonly [Case, string]>([
  [{ there: { branch: 'feature/login' }, branch: 'feature/login' }, 'shop-feature-login'],
  [{ there: {}, branch: 'main' }, 'shop-main'],
  [{ there: { branch: 'main' } }, 'shop-main'],
  [{ name: 'shop-demo', there: { branch: 'main' }, branch: 'login' }, 'shop-demo'],
  [{ name: 'shop-pr-7', there: { branch: 'login', hook }, branch: 'renamed', code: ofHook }, 'shop-pr-7'],
])('a deploy updates the preview of its branch, or of the name that was chosen: %j', async (one, name) =>
  expect(await deploy(one)).toBe(name),
)
