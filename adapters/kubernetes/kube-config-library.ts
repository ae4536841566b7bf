/** KubeConfig alone of @kubernetes/client-node: the re-export lets the bundler leave out the rest of the package. */
export { KubeConfig } from '@kubernetes/client-node'
