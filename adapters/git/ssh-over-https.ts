/**
 * Hosts of repositories, by the name under which their SSH server listens at port 443, for networks that block other
 * ports: https://docs.github.com/authentication/troubleshooting-ssh/using-ssh-over-the-https-port
 */
const HOSTS: Readonly<Record<string, string>> = {
  'altssh.bitbucket.org': 'bitbucket.org',
  'altssh.gitlab.com': 'gitlab.com',
  'ssh.github.com': 'github.com',
}

/** Turns the name of a forge's SSH server at port 443 (`ssh.github.com`) into that of the forge; keeps other names. */
export const hostOfSsh = (name: string): string => HOSTS[name.toLowerCase()] ?? name
