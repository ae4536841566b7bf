import { diagnostic } from '../../diagnostics/diagnostic.ts'
import { didYouMean } from '../../diagnostics/suggest.ts'
import type { At } from '../../text/source.ts'
import type { MapTree } from '../../text/tree.ts'
import type { ReadContext } from './context.ts'
import { list } from './tree-values.ts'

const unknown = diagnostic({
  code: 'capabilities/unknown',
  severity: 'warning',
  explain:
    'The name is not a Linux capability that devctl knows (see capabilities(7)). It is passed on as written. A container runtime refuses to start a container with a capability that the kernel does not have.',
  text: (p: { name: string; hint?: string | undefined }) => ({
    message: `unknown capability \`${p.name}\``,
    hint: p.hint,
  }),
})

// capabilities(7) as of Linux 6.x
const known: ReadonlySet<string> = new Set(
  `ALL AUDIT_CONTROL AUDIT_READ AUDIT_WRITE BLOCK_SUSPEND BPF CHECKPOINT_RESTORE CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID IPC_LOCK
  IPC_OWNER KILL LEASE LINUX_IMMUTABLE MAC_ADMIN MAC_OVERRIDE MKNOD NET_ADMIN NET_BIND_SERVICE NET_BROADCAST NET_RAW PERFMON SETFCAP SETGID
  SETPCAP SETUID SYSLOG SYS_ADMIN SYS_BOOT SYS_CHROOT SYS_MODULE SYS_NICE SYS_PACCT SYS_PTRACE SYS_RAWIO SYS_RESOURCE SYS_TIME
  SYS_TTY_CONFIG WAKE_ALARM`.split(/\s+/),
)

/** Reads `cap_add` or `cap_drop` in Kubernetes notation: upper case, without `CAP_`. */
export function readCapabilities(service: MapTree, { reporter }: ReadContext, key: string): readonly At<string>[] {
  return list(service, key).map(({ value, span }) => {
    const name = value.toUpperCase().replace(/^CAP_/, '')
    if (!known.has(name)) reporter.report(unknown, span, { name: value, hint: didYouMean(name, known) })
    return { value: name, span }
  })
}
