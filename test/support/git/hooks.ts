/** Shell scripts by the name of the hook of a bare repository; they run in its folder. */
export type Hooks = Readonly<
  Partial<Record<'pre-receive' | 'update' | 'post-receive' | 'reference-transaction', string>>
>

/** Refuses each push with a policy text, as a protected branch does. */
export function declines(text = 'protected branch hook declined'): Hooks {
  return { 'pre-receive': `${say(text)}\nexit 1\n` }
}

/** Refuses the next pushes with a text, then lets pass. */
export function declinesNext(times: number, text: string): Hooks {
  return { 'pre-receive': next(times, `${say(text)}\nexit 1`) }
}

/**
 * Lets another user's commit win during the next pushes, so that git itself finds the branch at another commit than the
 * client expects.
 */
export function losesRace(times: number, branch = 'main'): Hooks {
  const rival = [
    // A hook that runs before the objects are accepted may not move a branch; this acts as another push.
    'unset GIT_QUARANTINE_PATH GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES',
    'blob=$(echo "rival $turn" | git hash-object -w --stdin)',
    `printf 'commit refs/heads/${branch}\\ncommitter Rival <rival@example.com> now\\ndata 5\\nrival\\n' >"turn-$turn/import"`,
    `git rev-parse --verify --quiet refs/heads/${branch} | sed 's/^/from /' >>"turn-$turn/import"`,
    `echo "M 100644 $blob rival-$turn.txt" >>"turn-$turn/import"`,
    `git fast-import --quiet --date-format=now <"turn-$turn/import"`,
    'exit 0',
  ]
  return { 'pre-receive': next(times, rival.join('\n')) }
}

/** The branch is locked by another process during the next pushes: git itself says `cannot lock ref`. */
export function locksBranch(times: number, branch = 'main'): Hooks {
  const lock = `refs/heads/${branch}.lock`
  return { 'pre-receive': `rm -f ${lock}\n${next(times, `: >${lock}\nexit 0`)}` }
}

/** The server's end of the next pushes dies before anything was accepted. */
export function hangsUpBefore(times: number): Hooks {
  return { 'pre-receive': next(times, 'kill -9 "$PPID"\nexit 1') }
}

/** The server's end of the next pushes dies when the branch has moved, so that the client does not know of it. */
export function hangsUpAfter(times: number): Hooks {
  return { 'reference-transaction': `[ "$1" = committed ] || exit 0\n${next(times, 'kill -9 "$PPID"')}` }
}

/**
 * Each push waits this many seconds before it is accepted; it ends early when the repository is removed. The file
 * `waiting` tells that one waits.
 */
export function waits(seconds: number): Hooks {
  return { 'pre-receive': `: >waiting\nfor _ in $(seq ${seconds * 5}); do [ -e hooks ] || exit 1; sleep 0.2; done\n` }
}

/** Makes each push write the file `waiting`; the push is accepted once the test removes the file, or after a minute. */
export function waitsForRemoval(): Hooks {
  return { 'pre-receive': ': >waiting\nfor _ in $(seq 600); do [ -e waiting ] || exit 0; sleep 0.1; done\n' }
}

/**
 * A script that does something in its first runs only; `mkdir` makes sure that two at once do not both count as one.
 */
function next(times: number, script: string): string {
  return `for turn in $(seq ${times}); do\nif mkdir "turn-$turn" 2>/dev/null; then\n${script}\nfi\ndone\nexit 0\n`
}

/** A command that prints a text for the client, which sees it behind `remote: `. */
function say(text: string): string {
  return `printf '%s\\n' '${text.replaceAll("'", `'\\''`)}' >&2`
}
