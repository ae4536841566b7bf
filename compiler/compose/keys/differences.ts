/** A difference between devctl and the reference implementation (`docker compose config`). */
export interface ComposeDifference {
  readonly topic: string
  readonly compose: string
  readonly devctl: string
}

/** The intended differences, for docs/compose/differences.md. */
export const differences: readonly ComposeDifference[] = [
  {
    topic: 'The dialect’s own keys',
    compose: 'unknown keys, errors',
    devctl:
      '`endpoints`, `resources`, `healthcheck.http`, `build.export_cache`, and the `x-*` keys under [Extensions](../compose.md#extensions)',
  },
  {
    topic: '`stop_grace_period` without a unit',
    compose: 'error',
    devctl: 'seconds, as a number or as text',
  },
  {
    topic:
      'Words of `restart`, `deploy.restart_policy.condition`, `deploy.mode`, `deploy.endpoint_mode`, `ports[].mode`',
    compose: 'any word is accepted',
    devctl: 'known words only, with a suggestion for others; `any`, `none`, `never` in both restart policies',
  },
  {
    topic: '`x-*` keys in `blkio_config`, `extends`, `include`, `env_file`',
    compose: 'errors in some of them',
    devctl: 'accepted and ignored, as everywhere',
  },
  {
    topic: 'Unknown keys in `gpus[]` and in the old `external: {…}` of secrets and configs',
    compose: 'ignored silently',
    devctl: 'ignored with a warning',
  },
  {
    topic:
      'The same item twice in `security_opt`, `group_add`, `volumes_from`, `device_cgroup_rules`, `external_links`',
    compose: 'error',
    devctl: 'duplicates are removed, as the specification requires',
  },
  {
    topic: 'A `container_name` of one character',
    compose: 'error',
    devctl: 'accepted with a warning',
  },
  {
    topic: 'A fraction as a number of bytes (`mem_limit: 1.5`)',
    compose: 'becomes 0, which means no limit',
    devctl: 'error',
  },
  {
    topic: '`cpu_rt_runtime` and `cpu_rt_period` with a unit, `blkio_config.weight` as text',
    compose: 'error when the value is converted',
    devctl: 'accepted; the keys have no effect in a cluster',
  },
  {
    topic: 'Ports above 65535 in the long form, negative durations and CPUs, empty variable names',
    compose: 'accepted',
    devctl: 'errors',
  },
  {
    topic: 'The same service or resource in a file and in a file that it includes',
    compose: 'merged silently',
    devctl: 'merged, with a warning that names both places; an error with `--strict`',
  },
  {
    topic: 'Variables in an `env_file` of an included project',
    compose: 'the root project’s only',
    devctl: 'the variables of the included project, including its `.env`',
  },
  {
    topic: 'Items of `blkio_config` in `config`',
    compose: 'printed with capitals (`Path`, `Rate`), which Compose itself refuses to read',
    devctl: 'printed as they are written',
  },
  {
    topic: 'A `ulimits` entry of 0 in `config --format json`',
    compose: 'drops the zero (`core: {}`), and refuses to read its output',
    devctl: 'printed',
  },
  {
    topic: '`required: false` at a dependency that a profile excludes',
    compose: '`config` prints the dependency without the service, and Compose refuses to read its output',
    devctl: '`config` leaves the dependency out',
  },
  {
    topic: '`external: true` beside other keys',
    compose: 'error for volumes only',
    devctl: 'error for networks, secrets and configs too',
  },
  {
    topic: 'Two configs or two secrets at one path in one list',
    compose: 'the last one is mounted',
    devctl: 'error; a later file, or a service that extends another, may replace a mount',
  },
  {
    topic: 'A `user` with two colons (`1:2:3`), `sync+exec` without a command',
    compose: 'accepted',
    devctl: 'errors',
  },
  {
    topic: 'A port with an IPv6 address without brackets (`::1:6000:6000`)',
    compose: 'error',
    devctl: 'accepted',
  },
  {
    topic: 'Shell operators in the text form of `command` and `entrypoint` (`a && b`)',
    compose: 'the rest of the line is dropped silently',
    devctl: 'error; write `sh -c` or a list',
  },
  {
    topic: 'Dates, `.inf` and `.nan` in variables and labels',
    compose: 'rewritten in Go’s date format, or a crash',
    devctl: 'the text as it is written, with a warning',
  },
  {
    topic: 'Octal numbers and `1.10` in variables and labels',
    compose: 'rewritten silently',
    devctl: 'the same value, with a warning that shows both texts',
  },
  {
    topic: 'A limit in `cpus` or `mem_limit` beside `deploy.resources.limits` that lacks it',
    compose: 'error',
    devctl: 'accepted: they do not contradict each other',
  },
  {
    topic: 'A volume whose name is one letter (`v:/data`)',
    compose: 'read as a Windows drive letter',
    devctl: 'the declared volume; an error if it is not declared',
  },
  {
    topic: '`healthcheck.disable: true` over an inherited `test`',
    compose: 'the specification calls it an error, the loader keeps both',
    devctl: 'both stay in `config`; there is no probe',
  },
  {
    topic:
      '`!reset` of one entry of `environment`, `labels` or the like after two steps: a service extends one that extends another, or there are three files',
    compose: 'the entry stays: the merged mapping is a list by then, and no entry has the name',
    devctl:
      'the entry is removed, in whichever step it was set; so is a whole key (`environment: !reset {}`), as in Compose',
  },
  {
    topic: '`!reset` without anything to reset',
    compose: 'silent',
    devctl: 'warning',
  },
  {
    topic: 'An alias to an anchor in another YAML document',
    compose: 'accepted',
    devctl: 'error, as YAML requires',
  },
  {
    topic: '`mode: 644` of configs and secrets, without a leading zero',
    compose: 'the decimal number, which is 01204',
    devctl: '0644, with a warning',
  },
  {
    topic: '`endpoints` of several files',
    compose: 'an unknown key',
    devctl: 'merged by path: the later file wins',
  },
  {
    topic: 'Labels that begin with `com.docker.compose.`',
    compose: 'accepted by the loader, refused when the service starts',
    devctl: 'error',
  },
  {
    topic: '`content: ""` of a config, and `privileged: false`, `user: ""` and the like of a `pre_start` hook',
    compose: '`config` drops them, so its output means something else',
    devctl: 'printed',
  },
]
