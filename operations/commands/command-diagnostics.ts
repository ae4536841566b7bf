import { diagnostic } from '../../compiler/diagnostics/diagnostic.ts'

export const commandFailed = diagnostic({
  code: 'deploy/command-failed',
  severity: 'error',
  explain: `A command of the \`deploy\` or \`destroy\` section ended with another status than 0, or was killed. What it printed is above the message; the commands after it did not run. Commands run one after another in the folder of the manifest, each in a shell of its own, so \`cd\` and variables are not kept; \`NAME=value\` lines that are appended to the file named by \`DEVCTL_ENV\` are in the environment of the commands after.

\`\`\`
deploy:
  - terraform output -raw url | sed 's/^/API_URL=/' >> $DEVCTL_ENV
  - helm upgrade --install api chart --set url=$API_URL
\`\`\`

A shell's status is that of its last command: write \`set -e\` first where each line counts. 126 says that a file may not be run, 127 that a program was not found, 128 and more that a signal ended it (137: killed, most often for its memory).`,
  text: (p: { name: string; exitCode: number | null; signal: string | null; hint: string | undefined }) => ({
    message: `\`${p.name}\` ${p.signal === null ? `ended with exit status ${p.exitCode}` : `was ended by ${p.signal}`}`,
    hint: p.hint,
  }),
})

export const handedVariables = diagnostic({
  code: 'deploy/handed-variables',
  severity: 'warning',
  explain:
    'A command wrote something to the file named by `DEVCTL_ENV` that is no `NAME=value` line in the grammar of a `.env` file, so it is not handed to the commands after it. The other lines are. A value with blanks, `#` or quotes goes in quotes; in single quotes a dollar sign is only a dollar sign.',
  text: (p: { name: string; problem: string }) => ({
    message: `what \`${p.name}\` wrote to \`DEVCTL_ENV\` is not understood: ${p.problem}`,
    hint: 'write `NAME=value` lines, as in a `.env` file: `echo "URL=\'$url\'" >> $DEVCTL_ENV`',
  }),
})

/** What to do about a status of a shell that says more than that something failed. */
export function hintFor(exitCode: number | null, signal: string | null): string | undefined {
  if (signal === 'SIGKILL' || exitCode === 137) return 'it was killed, most often for its memory'
  if (exitCode === 127) return 'a program was not found: is it installed, and on the PATH?'
  if (exitCode === 126) return 'a file may not be run: `chmod +x` it, or name its interpreter'
  return undefined
}
