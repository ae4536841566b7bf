import type { Run, RunEvent } from '../../../../../platform/api/runs.ts'
import { RUN_IDS } from './runs.ts'

type RunLine = Extract<RunEvent, { type: 'line' }>

/** Returns the log of a run, whose lines are spread over its duration. */
export function sampleRunLog({ id, repository, commit, started, ended }: Run): readonly RunLine[] {
  if (started === undefined) return []
  const clone = [`cloning ${repository ?? ''}`, `commit ${commit ?? ''}`]
  const run = TEXTS[id] ?? []
  const texts = [
    ...clone.map(text => ({ step: 'clone' as const, text })),
    ...run.map(one => ({ step: 'run' as const, text: typeof one === 'string' ? one : JSON.stringify(one) })),
  ]
  const begun = Date.parse(started)
  const pause = ended === undefined ? 2_500 : (Date.parse(ended) - begun) / (texts.length + 1)
  return texts.map(({ step, text }, index) => ({
    type: 'line',
    number: index + 1,
    step,
    time: new Date(begun + pause * (index + 1)).toISOString(),
    text,
  }))
}

/** Lines that `devctl deploy --output json` prints for a build. */
const built = (name: string, image: string) => [
  { type: 'build-begun', name, reference: image },
  { type: 'build-step', name, step: 1, text: '[1/4] FROM node:22', state: 'cached', seconds: 0 },
  { type: 'build-step', name, step: 2, text: '[2/4] COPY package.json .', state: 'cached', seconds: 0 },
  { type: 'build-step', name, step: 3, text: '[3/4] RUN npm ci', state: 'running', seconds: 0 },
  { type: 'build-log', name, step: 3, text: '\u001b[32madded 214 packages\u001b[0m in 3s' },
  { type: 'build-step', name, step: 3, text: '[3/4] RUN npm ci', state: 'done', seconds: 3.4 },
  { type: 'build-ended', name, outcome: 'built', digest: 'sha256:da812eaacccd', seconds: 6.7 },
]

const ready = (service: string, text = 'Deployment 1/1 ready') => ({ type: 'status', service, state: 'ready', text })

const TEXTS: Readonly<Record<string, readonly (object | string)[]>> = {
  [RUN_IDS.running]: [
    ...built('web', 'registry.example.com/shop-pr-7/web:c01dbee'),
    { type: 'step', step: 'Planned', text: '2 changes, 18 unchanged' },
    { type: 'object', action: 'update', object: 'deployment/web' },
    { type: 'waiting', service: 'web', for: ['api'] },
  ],
  [RUN_IDS.failed]: [
    ...built('site', 'registry.example.com/ann/blog:9b2d7c1'),
    {
      type: 'diagnostic',
      severity: 'warning',
      code: 'interpolation/unset',
      message: '`SITE_URL` is not set and becomes empty',
      file: 'compose.yaml',
      range: { start: { line: 21, column: 12 }, end: { line: 21, column: 31 } },
    },
    { type: 'step', step: 'Planned', text: '1 change, 6 unchanged' },
    { type: 'object', action: 'update', object: 'deployment/site' },
    ready('db', 'StatefulSet 1/1 ready'),
    { type: 'status', service: 'site', state: 'waiting', text: 'Deployment 0/1 ready' },
    { type: 'status', service: 'site', state: 'failed', text: 'its container exits again and again' },
    {
      type: 'diagnostic',
      severity: 'error',
      code: 'deploy/crash-loop',
      message: '`site` exited 5 times with code 1',
      file: 'compose.yaml',
      range: { start: { line: 3, column: 3 }, end: { line: 3, column: 7 } },
      notes: ['the last lines of its log:', "| Error: ENOENT: no such file or directory, open '/site/config.json'"],
      hint: '`devctl logs site` shows more',
    },
  ],
  [RUN_IDS.succeeded]: [
    ...built('api', 'registry.example.com/shop/api:4f1c9aa'),
    ...built('web', 'registry.example.com/shop/web:4f1c9aa'),
    { type: 'step', step: 'Planned', text: '3 changes, 17 unchanged' },
    { type: 'object', action: 'update', object: 'secret/shop-db-password' },
    { type: 'object', action: 'update', object: 'deployment/api' },
    { type: 'object', action: 'delete', object: 'deployment/mailer' },
    ready('db', 'StatefulSet 1/1 ready'),
    ready('cache'),
    { type: 'waiting', service: 'web', for: ['api'] },
    ready('api', 'Deployment 2/2 ready'),
    ready('worker'),
    { type: 'output', command: 'seed', stream: 'stdout', text: '\u001b[1;33mseeded\u001b[0m 12 rows' },
    ready('web'),
    {
      type: 'result',
      environment: 'shop',
      namespace: 'shop',
      services: { db: 'ready', cache: 'ready', api: 'ready', worker: 'ready', web: 'ready' },
      endpoints: ['https://shop.dev.example.com'],
    },
  ],
  [RUN_IDS.cancelled]: ['the run was cancelled'],
  [RUN_IDS.old]: [
    { type: 'step', step: 'Planned', text: '4 changes' },
    ready('search'),
    ready('site'),
    {
      type: 'result',
      environment: 'docs',
      namespace: 'docs',
      services: { search: 'ready', site: 'ready' },
      endpoints: ['https://docs.dev.example.com'],
    },
  ],
}
