import { diagnostic } from '../compiler/diagnostics/diagnostic.ts'

export const commandFailed = diagnostic({
  code: 'deploy/command-failed',
  severity: 'error',
  explain: `A command of the \`deploy\` or \`destroy\` section exited with a status other than 0, or was killed. Its output is above the message; the commands after it did not run. Commands run in order in the folder of the manifest, each in its own shell, so \`cd\` and variables do not carry over. To pass variables to later commands, append \`NAME=value\` lines to the file in \`DEVCTL_ENV\`.

\`\`\`yaml
deploy:
  - terraform output -raw url | sed 's/^/API_URL=/' >> $DEVCTL_ENV
  - helm upgrade --install api chart --set url=$API_URL
\`\`\`

The exit status of a shell is that of its last command: begin with \`set -e\` to stop at the first failure. 126 means that a file is not executable, 127 that a program was not found, 128 and above that a signal ended it (137: killed, most often out of memory).`,
  text: (p: { name: string; exitCode: number | null; signal: string | null; hint: string | undefined }) => ({
    message: `\`${p.name}\` ${p.signal === null ? `failed with exit status ${p.exitCode}` : `was killed by ${p.signal}`}`,
    hint: p.hint,
  }),
})

export const handedVariables = diagnostic({
  code: 'deploy/handed-variables',
  severity: 'warning',
  explain:
    'A command wrote a line to the file in `DEVCTL_ENV` that is not a valid `NAME=value` line of a `.env` file. The line is ignored; the other lines are passed to later commands. Quote a value with spaces, `#` or quotes; in single quotes a dollar sign is literal.',
  text: (p: { name: string; problem: string }) => ({
    message: `invalid \`DEVCTL_ENV\` of \`${p.name}\`: ${p.problem}`,
    hint: 'write `NAME=value` lines, as in a `.env` file: `echo "URL=\'$url\'" >> $DEVCTL_ENV`',
  }),
})

/** Returns a hint for an exit status or signal that has a known meaning, otherwise undefined. */
export function hintFor(exitCode: number | null, signal: string | null): string | undefined {
  if (signal === 'SIGKILL' || exitCode === 137) return 'it was killed, most often because it ran out of memory'
  if (exitCode === 127) return 'a program was not found: check that it is installed and on the PATH'
  if (exitCode === 126) return 'a file is not executable: `chmod +x` it, or run it with its interpreter'
  return undefined
}
