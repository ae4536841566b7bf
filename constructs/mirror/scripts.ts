import { TOOLS_PATH } from './names.ts'

/** Path of the static busybox in the development container and in the agent. */
export const TOOL = `${TOOLS_PATH}/busybox`

/**
 * Script for process 1 of a container in which `up` runs commands. The shell reaps orphaned processes. The script exits
 * on TERM and INT explicitly, because signals have no default effect on process 1.
 */
const HOLD = `\
b=${TOOL}
end() {
  trap '' TERM INT
  [ "$$" = 1 ] && kill -TERM -1 2>/dev/null && "$b" sleep 0.5
  exit 0
}
trap end TERM INT
while :; do
  "$b" sleep 86400 &
  wait "$!"
done
`

/**
 * Script that runs the command after `--` and restarts it when it ends, or immediately on the signal USR1. The command
 * has its own process group, which the script terminates as a whole, because a remaining server would keep its port.
 * The script restarts the command itself, because the kubelet's back-off would be longer each time.
 */
const RUN = `\
b=${TOOL}
if [ "$1" = --wait ]; then
  trap 'exit 0' TERM INT
  looks=0
  until [ -e "$2" ]; do
    # The first files come soon, or the laptop is away.
    if [ "$((looks += 1))" -lt 600 ]; then "$b" sleep 0.05; else "$b" sleep 1; fi
  done
  shift 2
fi
[ "$1" = -- ] && shift
child= killer= again= ending= pause=1
end_child() {
  [ -n "$child" ] || return 0
  kill -TERM "-$child" 2>/dev/null
  [ -n "$killer" ] || { ( "$b" sleep 8; kill -KILL "-$child" 2>/dev/null ) & killer=$!; }
}
trap 'again=1; end_child' USR1
trap 'ending=1; end_child' TERM INT
while [ -z "$ending" ]; do
  again=
  began=$("$b" date +%s)
  "$b" setsid "$@" &
  child=$!
  while kill -0 "$child" 2>/dev/null; do wait "$child"; status=$?; done
  kill -KILL "-$child" 2>/dev/null
  child=
  [ -n "$killer" ] && kill "$killer" 2>/dev/null
  killer=
  [ -n "$ending" ] && exit 0
  [ -n "$again" ] && { pause=1; continue; }
  [ $(($("$b" date +%s) - began)) -gt 60 ] && pause=1
  echo "devctl: the command has ended with status $status; it starts again in $pause s" >&2
  "$b" sleep "$pause" &
  wait "$!"
  pause=$((pause * 2))
  [ "$pause" -gt 30 ] && pause=30
done
exit 0
`

/** Script of the tools container, which installs busybox, `hold.sh` and `run.sh` in the tools volume. */
export const INSTALL = `\
set -e
cp /bin/busybox /devctl/busybox
cat > /devctl/hold.sh <<'END_OF_SCRIPT'
${HOLD}END_OF_SCRIPT
cat > /devctl/run.sh <<'END_OF_SCRIPT'
${RUN}END_OF_SCRIPT
`

/** Command for process 1 of a container in which only `up` runs commands: process 1 itself just waits. */
export const HOLD_COMMAND: readonly string[] = [TOOL, 'sh', `${TOOLS_PATH}/hold.sh`]

/**
 * Returns the start of the command for process 1 that runs a program. Callers append the program and its arguments. The
 * program starts once the file `ready` exists, or at once if `ready` is absent.
 */
export const runCommand = (ready?: string): readonly string[] => [
  TOOL,
  'sh',
  `${TOOLS_PATH}/run.sh`,
  ...(ready === undefined ? [] : ['--wait', ready]),
  '--',
]
