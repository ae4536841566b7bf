/**
 * Returns true if a Dockerfile is built by the frontend of Docker: its directives name no other one (`# syntax=`).
 * Another frontend has its own rules for stages and arguments. (https://docs.docker.com/build/buildkit/frontend/)
 */
export function usesDockerFrontend(text: string): boolean {
  const [, syntax] = /^\s*(?:#[ \t]*\w+[ \t]*=.*\r?\n[ \t]*)*?#[ \t]*syntax[ \t]*=[ \t]*(\S+)/i.exec(text) ?? []
  return syntax === undefined || /^(?:docker\.io\/)?docker\/dockerfile\b/.test(syntax)
}
