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

/**
 * Path of the file in which the fill container stores the user of the image, if devctl cannot determine this user
 * outside the Pod.
 */
export const USER_FILE = `${RUN_PATH}/user`

/**
 * Maximum time that the agent waits, in seconds: one day, because the laptop may suspend before the first files arrive.
 */
const PATIENCE = 86_400

/**
 * Returns the container of the agent. The agent runs next to the container whose files it writes; it synchronizes these
 * files and forwards ports.
 */
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
    // The end of the agent's log is in the status of the Pod, where `up` reads it.
    terminationMessagePolicy: 'FallbackToLogsOnError',
    resources: resources(DEFAULT_RESOURCES, settings.agent.resources),
  })
}

/**
 * Default resources of the agent. The limit is the highest memory use in a first synchronization of 10,000 files, plus
 * some room.
 */
const DEFAULT_RESOURCES: Json = { requests: { cpu: '10m', memory: '64Mi' }, limits: { memory: '512Mi' } }

/** Mounts of the agent's container, which mounts the entire volume. The other containers mount parts of the volume. */
export const AGENT_MOUNTS: readonly ContainerMount[] = [
  { volume: SYNC_VOLUME, path: VOLUME_PATH },
  { volume: RUN_VOLUME, path: RUN_PATH },
  { volume: CODE_VOLUME, path: '/devctl/code', readOnly: true },
  { volume: TOOLS_VOLUME, path: TOOLS_PATH, readOnly: true },
  // If a volume is already mounted at this path, Kubernetes mounts no service account token.
  { volume: RUN_VOLUME, path: '/var/run/secrets/kubernetes.io/serviceaccount', subPath: 'no-token', readOnly: true },
]

/**
 * Returns the command of the agent's container. The command unpacks the agent into a file, because an agent that runs
 * from a file can start threads. If the container starts as root, a wrapper drops root before it loads the agent, which
 * must not run as root. A small semi-space for new objects saves 30 MB of memory. If the agent has to wait for another
 * Pod, the command only sleeps.
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

/**
 * Returns the data of the Secret from which the agent starts, in base64: the agent's program, its session, and the
 * secret files that are mounted in the container.
 */
export function sessionData(facts: MirrorFacts): Readonly<Record<string, string>> {
  return {
    'agent.cjs.gz': facts.agent.data,
    'session.json': Buffer.from(facts.session).toString('base64'),
    ...Object.fromEntries(facts.files.map((content, index) => [`file-${index}`, content])),
  }
}

/**
 * Returns a hash of the agent's program, its session, the secret files and `variables`, which is the hash of the
 * variables' values.
 */
export const sessionHash = (facts: MirrorFacts, variables?: string): string =>
  hashOf([facts.agent.hash, facts.session, ...facts.files, ...(variables === undefined ? [] : [variables])])
