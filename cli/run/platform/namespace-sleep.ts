import type { Context } from '../../command.ts'
import { withPlatform } from './namespace.ts'

/** Suspends a namespace, by default the current one, and reports the workloads that stay awake. */
export function sleepNamespace(context: Context, name: string | undefined): Promise<number> {
  return withPlatform(context, 'sleep', name, async ({ platform, target, signal }) => {
    const ns = name ?? target.namespace
    const { kept } = await platform.call('POST /namespaces/:ns/sleep', { params: { ns } }, signal)
    for (const one of kept) context.io.stderr.write(`${one}\n`)
    context.io.stdout.write(`Namespace ${ns} is asleep\n`)
    return 0
  })
}

/** Resumes a namespace, by default the current one. Its workloads may take a while to become ready. */
export function wakeNamespace(context: Context, name: string | undefined): Promise<number> {
  return withPlatform(context, 'wake', name, async ({ platform, target, signal }) => {
    const ns = name ?? target.namespace
    const { status } = await platform.call('POST /namespaces/:ns/wake', { params: { ns } }, signal)
    context.io.stdout.write(status === 'Active' ? `Namespace ${ns} is awake\n` : `Waking namespace ${ns}\n`)
    return 0
  })
}
