import { diagnostic } from '../../compiler/diagnostics/diagnostic.ts'

/**
 * Setting of another tool that is not carried over; `what` is the name under which users of that tool know the setting.
 */
export interface LostSetting {
  readonly what: string
  readonly why: string
  readonly hint?: string | undefined
}

/** Reported for each setting that cannot be carried over automatically. */
export const notCarriedOver = diagnostic<LostSetting>({
  code: 'migrate/not-carried-over',
  severity: 'warning',
  explain: `\`devctl migrate\` has read a setting of another tool that it did not carry over: it has no equivalent, its value is not one that devctl can express, or the file already has another value. The message says why, and the hint what to do by hand. Everything else is in the result.`,
  text: ({ what, why, hint }) => ({ message: `\`${what}\` is not carried over: ${why}`, hint }),
})

export const unknownFlag = diagnostic<{ readonly flag: string; readonly near: string | undefined }>({
  code: 'migrate/unknown-flag',
  severity: 'error',
  explain: `A \`docker run\` command has a flag that \`devctl migrate\` does not know. It could have a value, so the rest of the command cannot be read either, and nothing is written.`,
  text: ({ flag, near }) => ({
    message: `\`${flag}\` is not a flag of \`docker run\``,
    hint: near ?? 'remove it; `docker run --help` lists the flags',
  }),
})

export const badCommand = diagnostic<{ readonly problem: string; readonly hint: string }>({
  code: 'migrate/bad-command',
  severity: 'error',
  explain: `A \`docker run\` command is incomplete: a quote is not closed, a flag has no value, or the image is missing.`,
  text: ({ problem, hint }) => ({ message: problem, hint }),
})

export const sameName = diagnostic<{ readonly name: string; readonly service: string }>({
  code: 'migrate/same-name',
  severity: 'warning',
  explain: `Two \`docker run\` commands have the same \`--name\`, or images of the same name and no \`--name\`. Each becomes a service, and the names of services are unique, so the later one gets a number. If only one of the commands runs at a time, such as in the branches of a script, delete the other service.`,
  text: ({ name, service }) => ({
    message: `another command already makes the service \`${name}\`; this one becomes \`${service}\``,
    hint: 'rename it, or delete one of the two services',
  }),
})
