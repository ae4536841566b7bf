import Type, { type Static } from 'typebox'
import { PREVIEW_LABEL, PREVIEW_SCOPES, PREVIEW_STATUSES } from '../rules/previews/previews.ts'
import { closed, forced, namespaceName, namespaceRole, oneOf, person, time } from './common.ts'
import { listOf, route } from './route.ts'
import { branchName, cloneLogin, filePath, givenVariables, run, runEvent, runId } from './runs.ts'

const label = Type.String({ pattern: PREVIEW_LABEL, maxLength: 63 })

const preview = Type.Object({
  name: Type.String({ description: 'name of the preview and of its namespace' }),
  status: oneOf(PREVIEW_STATUSES),
  scope: oneOf(PREVIEW_SCOPES),
  owner: person,
  role: Type.Optional(namespaceRole),
  repository: Type.String(),
  branch: Type.Optional(Type.String({ description: 'absent: the default branch' })),
  sourceUrl: Type.Optional(Type.String({ description: 'address of the pull or merge request' })),
  labels: Type.Array(Type.String()),
  created: time,
  lastActive: time,
  isPersistent: Type.Optional(Type.Boolean()),
  deleteProblem: Type.Optional(Type.String({ description: 'why it could not be destroyed' })),
  deleteWaits: Type.Optional(Type.String({ description: 'what its deletion waits for' })),
  isUntrusted: Type.Optional(Type.Boolean({ description: 'it runs code of a fork' })),
  expires: Type.Optional({ ...time, description: 'when it is destroyed, even if it is in use' }),
  run: Type.Optional(run),
  urls: Type.Optional(
    Type.Array(Type.String(), {
      description: 'public URLs, the shorter ones first: in a list that asks for them, if they can be read',
    }),
  ),
})
export type Preview = Static<typeof preview>

const previewDetails = Type.Object({
  ...preview.properties,
  endpoints: Type.Array(
    Type.Object({
      url: Type.String(),
      services: Type.Array(Type.String()),
      ready: Type.Boolean({ description: 'each of its services has a ready Pod' }),
    }),
    { description: 'the shorter ones first; none if the caller may not see what runs in it' },
  ),
  problem: Type.Optional(
    Type.Object(
      { service: Type.String(), code: Type.String(), message: Type.String() },
      { description: 'the first problem' },
    ),
  ),
})
export type PreviewDetails = Static<typeof previewDetails>

const newPreview = closed({
  name: Type.Optional(namespaceName),
  repository: Type.String({ maxLength: 1000 }),
  branch: Type.Optional(branchName),
  file: Type.Optional(filePath),
  scope: Type.Optional(oneOf(PREVIEW_SCOPES)),
  sourceUrl: Type.Optional(Type.String({ maxLength: 1000 })),
  labels: Type.Optional(Type.Array(label, { maxItems: 20, uniqueItems: true })),
  variables: Type.Optional(givenVariables),
  cloneLogin: Type.Optional({ ...cloneLogin, description: 'kept until the repository is cloned' }),
})
export type NewPreview = Static<typeof newPreview>

const byPreview = Type.Object({ name: namespaceName })
const byPreviewRun = Type.Object({ name: namespaceName, id: runId })

/** Routes for previews of branches: a preview is a namespace with its runs (design, section 7). */
export const previewRoutes = {
  'GET /previews': route({
    caller: 'user',
    isForCi: true,
    query: closed({
      label: Type.Optional(label),
      urls: Type.Optional({ ...Type.Literal('true'), description: 'with the public URLs of each' }),
    }),
    reply: listOf(preview),
  }),
  'POST /previews': route({ caller: 'user', isForCi: true, body: newPreview, reply: preview, audit: 'deploy preview' }),
  'GET /previews/:name': route({ caller: 'user', isForCi: true, params: byPreview, reply: previewDetails }),
  'DELETE /previews/:name': route({
    caller: 'user',
    isForCi: true,
    params: byPreview,
    query: forced,
    audit: 'destroy preview',
  }),
  'GET /previews/:name/runs/:id/log': route({
    caller: 'user',
    isForCi: true,
    params: byPreviewRun,
    events: runEvent,
  }),
} as const
