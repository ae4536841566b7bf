import type { Loading } from './reference.ts'

/** Intended difference from the reference. `docs/compose/differences.md` lists these differences for users. */
interface Deviation {
  readonly what: string
  /** Returns true if a difference is this one; `difference` is a line of compare.ts. */
  readonly is: (difference: string, reference: Loading, ours: Loading) => boolean
}

const onlyReference = (pattern: RegExp) => (difference: string) =>
  difference.startsWith('only the reference refuses it') && pattern.test(difference)
const onlyWe = (pattern: RegExp) => (difference: string) =>
  difference.startsWith('only we refuse it') && pattern.test(difference.slice('only we refuse it: '.length))

export const deviations: readonly Deviation[] = [
  { what: 'the reference crashes', is: difference => difference.startsWith('only the reference refuses it: crash:') },
  {
    what: 'duplicates that a merge makes in security_opt, group_add and the like are removed',
    is: onlyReference(/array items\[\d+,\d+\] must be unique|items at \d+ and \d+ are equal/),
  },
  {
    what: 'limits in two notations contradict each other only when both are there',
    is: onlyReference(/can't set distinct values on '(cpus|mem_limit|mem_reservation|pids_limit)'/),
  },
  { what: 'a container name may have one character', is: onlyReference(/container_name/) },
  {
    what: 'shell operators outside a shell are refused instead of dropping what follows',
    is: onlyWe(/shell-operator/),
  },
  { what: 'keys of include are in lower case', is: onlyWe(/^error\[compose\/unknown-key\].*`include\[/) },
  { what: 'a range of ports has two ends', is: onlyWe(/^error\[ports\/bad-short-form\]: bad port `\d+-\d+-/) },
  {
    what: 'items of blkio_config are printed as they are read',
    is: difference =>
      /blkio_config\.\w+(\[\d+\])?\.?(Path|Rate|Weight|path|rate|weight)?\b/.test(difference.split(':')[0]!),
  },
  {
    what: 'names are not empty',
    is: onlyWe(/^error\[schema\/bad-name\].* is empty$|^error\[labels\/empty-name\]/m),
  },
  {
    what: 'a hook says which settings of its service it does without',
    is: difference =>
      /^services\.[^.]+\.pre_start\[\d+\]\.\w+: the reference has nothing, we have (false|"")$/.test(difference),
  },
  {
    what: 'the content of a config that is empty is printed',
    is: difference => /^configs\.[^:]+\.content: the reference has nothing, we have ""$/.test(difference),
  },
  {
    what: 'an optional dependency on a service that a profile leaves out is not printed',
    is: difference =>
      /\.depends_on(\.[^.:]+)?: the reference has \{.*"required":false.*we have nothing$/.test(difference),
  },
  {
    what: 'two files of one list are not at one path',
    is: onlyWe(/^error\[mounts\/duplicate-target\]/),
  },
  {
    what: 'a user has one group, and a command that is run has words',
    is: onlyWe(/^error\[schema\/not-allowed\].*user`|^error\[develop\/no-exec\]/),
  },
  { what: 'external resources may have no other keys', is: onlyWe(/external/) },
]

/** The deviation that explains a difference, or undefined for a mistake. */
export function deviationOf(difference: string, reference: Loading, ours: Loading): Deviation | undefined {
  return deviations.find(deviation => deviation.is(difference, reference, ours))
}
