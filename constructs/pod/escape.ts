/**
 * Text as Kubernetes must be given it so that the process receives it unchanged. In `command`,
 * `args`, `env[].value` and the commands of exec probes (not in lifecycle hooks) Kubernetes
 * replaces `$(NAME)` and turns `$$` into `$`; any other `$` stays as it is.
 * https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#Container
 */
export function escapeDollars(text: string): string {
  return text.replace(/\$(?=[$(])/g, '$$$$')
}
