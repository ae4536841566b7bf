import type { ContainerMount, ContainerPlan } from '../../compiler/plan/plan.ts'
import { quote } from '../../compiler/values/shell-words.ts'
import { helperContainer } from '../pod/helper.ts'
import { containerJson, resources } from './container.ts'
import { compact, type Json } from './json.ts'
import {
  AGENT_CONTAINER,
  CODE_VOLUME,
  READY_FILE,
  RUN_PATH,
  RUN_VOLUME,
  SYNC_VOLUME,
  TOOLS_PATH,
  TOOLS_VOLUME,
  VOLUME_PATH,
} from './names.ts'
import { TOOL } from './scripts.ts'
import type { MirrorFacts, MirrorSettings } from './settings.ts'
import { agentDrops, agentSecurity, agentWaits, type RunsAs } from './user.ts'
import { hashOf } from './variables.ts'

/** The file in which the container that fills the volume leaves the user, where only the Pod knows it. */
export const USER_FILE = `${RUN_PATH}/user`

/** A day, in seconds: the laptop may sleep before the first files have come. */
const PATIENCE = 86_400

/** The program that synchronises files and forwards ports, beside the container whose files it writes. */
export function agentContainer(
  settings: MirrorSettings,
  facts: MirrorFacts,
  identity: RunsAs,
  form: 'sidecar' | 'container',
): Json {
  const plan: ContainerPlan = {
    ...helperContainer({
      name: AGENT_CONTAINER,
      image: settings.agent.image ?? facts.agentImage,
      command: agentCommand(identity),
      mounts: AGENT_MOUNTS,
      security: agentSecurity(identity),
    }),
    ...(form === 'sidecar' && {
      startupProbe: {
        check: { kind: 'exec', command: [TOOL, 'test', '-e', READY_FILE] },
        periodSeconds: 1,
        failureThreshold: PATIENCE,
      },
    }),
  }
  return compact({
    ...containerJson(plan, form === 'sidecar' ? { restartPolicy: 'Always' } : {}),
    // Its last words are in the status of the Pod, for `up` to tell.
    terminationMessagePolicy: 'FallbackToLogsOnError',
    resources: resources(DEFAULT_RESOURCES, settings.agent.resources),
  })
}

/** Memory that the agent has used at most in a first synchronisation of 10,000 files, with room. */
const DEFAULT_RESOURCES: Json = { requests: { cpu: '10m', memory: '64Mi' }, limits: { memory: '512Mi' } }

/** Mounts of the agent: among them the whole volume, of which the other containers mount parts. */
export const AGENT_MOUNTS: readonly ContainerMount[] = [
  { volume: SYNC_VOLUME, path: VOLUME_PATH },
  { volume: RUN_VOLUME, path: RUN_PATH },
  { volume: CODE_VOLUME, path: '/devctl/code', readOnly: true },
  { volume: TOOLS_VOLUME, path: TOOLS_PATH, readOnly: true },
  // If a volume is already mounted at this path, Kubernetes mounts no service account token.
  { volume: RUN_VOLUME, path: '/var/run/secrets/kubernetes.io/serviceaccount', subPath: 'no-token', readOnly: true },
]

/**
 * Unpacks the program, and starts it as the user. A file of its own lets it start threads. The
 * program itself is not trusted with root: what starts it drops that. Its memory for new objects is
 * kept small, which saves 30 MB.
 */
export function agentCommand(identity: RunsAs): readonly string[] {
  if (agentWaits(identity)) return [TOOL, 'sleep', String(PATIENCE)]
  const start = agentDrops(identity) ? `-e ${quote(DROP)}` : PROGRAM
  const wait = agentDrops(identity) ? `until [ -e ${USER_FILE} ]; do ${TOOL} sleep 0.05; done; ` : ''
  return [
    TOOL,
    'sh',
    '-c',
    `${wait}${TOOL} gunzip -c /devctl/code/agent.cjs.gz > ${PROGRAM} && exec node --max-semi-space-size=2 ${start}`,
  ]
}

const PROGRAM = `${RUN_PATH}/agent.cjs`

const DROP = [
  `const [uid, gid] = require('node:fs').readFileSync('${USER_FILE}', 'utf8').split(':').map(Number)`,
  'process.setgroups([gid]); process.setgid(gid); process.setuid(uid)',
  `require('${PROGRAM}')`,
].join('\n')

/** The data of the Secret that the agent is started from, in base64: program, session, files. */
export function sessionData(facts: MirrorFacts): Readonly<Record<string, string>> {
  return {
    'agent.cjs.gz': facts.agent.data,
    'session.json': Buffer.from(facts.session).toString('base64'),
    ...Object.fromEntries(facts.files.map((content, index) => [`file-${index}`, content])),
  }
}

/** Returns another one for another program, session or file, and for other `variables`, of which it takes the hash. */
export const sessionHash = (facts: MirrorFacts, variables?: string): string =>
  hashOf([facts.agent.hash, facts.session, ...facts.files, ...(variables === undefined ? [] : [variables])])
