import type { NamespaceDetails, NamespaceLimit } from '../../../../../platform/api/namespaces.ts'
import { DAY, HOUR, type MinutesAgo } from '../times.ts'
import { ANN, BOB } from './people.ts'

/**
 * Namespaces: `ann` has a failed deploy, `shop` is healthy, `docs` is asleep, and `shop-pr-7` is a preview that is
 * being deployed.
 */
export const sampleNamespaces = (at: MinutesAgo): NamespaceDetails[] => [
  {
    name: 'ann',
    kind: 'personal',
    status: 'Active',
    owner: ANN,
    role: 'owner',
    created: at(120 * DAY),
    lastActive: at(20),
    members: [{ user: ANN, role: 'owner' }],
  },
  {
    name: 'docs',
    kind: 'namespace',
    status: 'Sleeping',
    owner: BOB,
    role: 'developer',
    created: at(75 * DAY),
    lastActive: at(4 * DAY),
    members: [
      { user: BOB, role: 'owner' },
      { user: ANN, role: 'developer' },
    ],
  },
  {
    name: 'shop',
    kind: 'namespace',
    status: 'Active',
    owner: ANN,
    role: 'owner',
    created: at(90 * DAY),
    lastActive: at(3),
    isPersistent: true,
    members: [
      { user: ANN, role: 'owner' },
      { user: BOB, role: 'developer' },
    ],
  },
  {
    name: 'shop-pr-7',
    kind: 'preview',
    status: 'Active',
    owner: BOB,
    role: 'developer',
    created: at(3 * HOUR),
    lastActive: at(1),
    members: [
      { user: BOB, role: 'owner' },
      { user: ANN, role: 'developer' },
    ],
  },
]

const GIBIBYTE = 2 ** 30

/** The limits of each namespace, of which one is nearly used up. */
export const SAMPLE_LIMITS: NamespaceLimit[] = [
  { resource: 'count/secrets', unit: 'objects', used: 14, most: 100 },
  { resource: 'limits.memory', unit: 'bytes', used: 5.5 * GIBIBYTE, most: 16 * GIBIBYTE },
  { resource: 'pods', unit: 'objects', used: 9, most: 50 },
  { resource: 'requests.cpu', unit: 'cores', used: 1.35, most: 8 },
  { resource: 'requests.memory', unit: 'bytes', used: 3.25 * GIBIBYTE, most: 16 * GIBIBYTE },
  { resource: 'requests.storage', unit: 'bytes', used: 46 * GIBIBYTE, most: 50 * GIBIBYTE },
]
