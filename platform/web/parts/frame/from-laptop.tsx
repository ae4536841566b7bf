import { Command } from '../copy.tsx'

/** Renders the two commands with which users deploy from their own machine. */
export const FromLaptop = ({ namespace, home }: { readonly namespace?: string; readonly home?: string }) => (
  <Command
    lines={[
      `devctl context use ${location.origin}${namespace === undefined || namespace === home ? '' : ` --namespace ${namespace}`}`,
      'devctl deploy',
    ]}
  />
)
