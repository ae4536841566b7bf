/** Re-exports only `KubeConfig` from @kubernetes/client-node, so that the bundler can omit the rest of the package. */
export { KubeConfig } from '@kubernetes/client-node'
