/**
 * Escapes text so that Kubernetes passes it to the process unchanged. In `command`, `args`, `env[].value` and the
 * commands of exec probes (not in lifecycle hooks), Kubernetes replaces `$(NAME)` and converts `$$` to `$`; any other
 * `$` stays. https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#Container
 */
export function escapeDollars(text: string): string {
  return text.replace(/\$(?=[$(])/g, '$$$$')
}
