import type { ContainerPlan, OncePlan } from '../../compiler/plan/plan.ts'
import { busybox, type Tools } from './tools.ts'

/**
 * Returns a container that runs once with a script as its program; returns any other container unchanged. The script
 * runs the original program, and keeps running when that program has ended. If the container ended, the kubelet would
 * restart it, and the Pod would not be ready until the restart.
 */
export function onceContainer(plan: ContainerPlan, tools: Tools | undefined): ContainerPlan {
  const { once, command = once?.entrypoint ?? [], args = once?.cmd, mounts, ...rest } = plan
  if (!once) return plan
  if (!tools) throw new Error(`${plan.name} runs once without tools`)
  return {
    ...rest,
    command: [...SHELL, onceScript(once), plan.name, ...command],
    ...(args && { args }),
    mounts: [...mounts, { ...tools.mount, readOnly: true }],
  }
}

/** Start of the command of a container that runs once. */
const SHELL = [busybox, 'sh', '-c']

/** First lines of `onceScript`, by which the script is recognized. */
const BEGIN = `\
b() { ${busybox} "$@"; }
exec 3<&0
`

/** Returns the original program from the command of a container that runs once; returns any other command unchanged. */
export function withoutOnce(command: readonly string[]): readonly string[] {
  const isOnce = SHELL.every((word, index) => command[index] === word) && command[SHELL.length]?.startsWith(BEGIN)
  // The script is followed by the name of the container.
  return isOnce ? command.slice(SHELL.length + 2) : command
}

/**
 * Returns a script that runs its arguments until they succeed or have failed too often, with increasing pauses, and
 * then keeps running. As in the kubelet, the failure count and the pause are reset after a run of ten minutes. The
 * script passes its standard input on explicitly, because the shell would give a background program an empty input. It
 * forwards signals to the program. `wait` returns for each signal, so the script calls it until the program has ended.
 */
export function onceScript({ retries }: Pick<OncePlan, 'retries'>): string {
  return `${BEGIN}\
program= stopped= failed=0 pause=10
trap 'stopped=1; [ -z "$program" ] || b kill -TERM "$program" 2>/dev/null' TERM INT
while :; do
  began=$(b date +%s)
  "$@" <&3 3<&- &
  program=$!
  wait "$program"
  status=$?
  while b kill -0 "$program" 2>/dev/null; do
    wait "$program"
    status=$?
  done
  program=
  [ -z "$stopped" ] || exit "$status"
  [ "$status" != 0 ] || break
  if [ $(($(b date +%s) - began)) -ge 600 ]; then failed=0 pause=10; fi
  failed=$((failed + 1))
${
  retries === undefined
    ? ''
    : `  [ "$failed" -le ${retries} ] || break
`
}\
  echo "$0 has ended with status $status, and starts again in $pause s" >&2
  ${busybox} sleep "$pause" &
  wait "$!"
  [ -z "$stopped" ] || exit "$status"
  pause=$((pause * 2))
  [ "$pause" -le 300 ] || pause=300
done
echo "$0 has ended with status $status; its container stays, for the others in the Pod" >&2
while [ -z "$stopped" ]; do
  ${busybox} sleep 86400 &
  wait "$!"
done
`
}
