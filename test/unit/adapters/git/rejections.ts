/**
 * Error output of git when a clone or a push fails, and the kind of that failure; texts of git 2.39 unless the
 * situation says otherwise.
 */
export interface Rejection {
  readonly situation: string
  readonly stderr: string
  /**
   * `race`: another push was first, so fetch the branch and write again. `broken`: it is unknown whether the push has
   * happened, so check the branch. `refused`: the server's decision, which is permanent. `credentials`: the server did
   * not accept our identity, or ssh did not accept the server's. `missing`: the repository does not exist.
   * `unreachable`: the server does not exist or cannot be reached.
   */
  readonly kind: 'race' | 'broken' | 'refused' | 'credentials' | 'missing' | 'unreachable'
}

const URL = 'https://git.example.com/org/deploy.git'
const FAILED = `error: failed to push some refs to '${URL}'\n`
const rejected = (reason: string): string => `To ${URL}\n ! [rejected]        HEAD -> main (${reason})\n${FAILED}`
const remoteRejected = (reason: string, branch = 'main'): string =>
  `To ${URL}\n ! [remote rejected] HEAD -> ${branch} (${reason})\n${FAILED}`
/** Lines of the server, which git pads. */
const remote = (...lines: readonly string[]): string =>
  lines.map(line => `remote: ${line}${line === '' ? '' : '        '}\n`).join('')
const hint = (...lines: readonly string[]): string => lines.map(line => `hint: ${line}\n`).join('')
const NO_ACCESS =
  'fatal: Could not read from remote repository.\n\nPlease make sure you have the correct access rights\nand the repository exists.\n'
const HUNG_UP =
  'send-pack: unexpected disconnect while reading sideband packet\nfatal: the remote end hung up unexpectedly\n'
/** End of git's error output over http, with exit status 1. */
const NOTHING_PUSHED = `${HUNG_UP}Everything up-to-date\n`

const races: readonly Omit<Rejection, 'kind'>[] = [
  {
    situation: 'the branch has a commit that we do not have (full and shallow clones)',
    stderr:
      rejected('fetch first') +
      hint(
        'Updates were rejected because the remote contains work that you do',
        'not have locally. This is usually caused by another repository pushing',
        'to the same ref. You may want to first integrate the remote changes',
        "(e.g., 'git pull ...') before pushing again.",
        "See the 'Note about fast-forwards' in 'git push --help' for details.",
      ),
  },
  {
    situation: 'the branch has moved on (partial clones, which fetch the commit they are told of; or fetched before)',
    stderr:
      rejected('non-fast-forward') +
      hint(
        'Updates were rejected because the tip of your current branch is behind',
        'its remote counterpart. Integrate the remote changes (e.g.',
        "'git pull ...') before pushing again.",
        "See the 'Note about fast-forwards' in 'git push --help' for details.",
      ),
  },
  {
    situation: 'another push of the same moment was first; also our own, which was repeated after its answer was lost',
    stderr:
      remote(
        "error: cannot lock ref 'refs/heads/main': is at 7c0181af1b26779b3ee00b88a9a4d1f82af5f52b but expected 7d5ef9f9506036ef1c4bd4e12d9d85be9d9deee5",
      ) + remoteRejected('failed to update ref'),
  },
  {
    situation: 'another push of the same moment was first, as GitHub says it',
    stderr: remoteRejected(
      "cannot lock ref 'refs/heads/main': is at 7c0181af1b26779b3ee00b88a9a4d1f82af5f52b but expected 7d5ef9f9506036ef1c4bd4e12d9d85be9d9deee5",
    ),
  },
  {
    situation: 'another push of the same moment was first (servers with git 2.50 and later, GitLab)',
    stderr: remoteRejected('incorrect old value provided'),
  },
  {
    situation: 'another push of the same moment made the branch',
    stderr:
      remote("error: cannot lock ref 'refs/heads/main': reference already exists") +
      remoteRejected('failed to update ref'),
  },
  {
    situation: 'another push of the same moment made the branch (servers with git 2.50 and later)',
    stderr: remoteRejected('reference already exists'),
  },
  {
    situation: 'another push holds the lock of the branch',
    stderr:
      remote(
        "error: cannot lock ref 'refs/heads/main': Unable to create '/srv/git/deploy.git/./refs/heads/main.lock': File exists.",
        '',
        'Another git process seems to be running in this repository, e.g.',
        "an editor opened by 'git commit'. Please make sure all processes",
        'are terminated then try again. If it still fails, a git process',
        'may have crashed in this repository earlier:',
        'remove the file manually to continue.',
      ) + remoteRejected('failed to update ref'),
  },
  {
    situation: 'a hook says that it lost a race',
    stderr: remote('incorrect old value provided') + remoteRejected('pre-receive hook declined'),
  },
  {
    situation: 'somebody pushed to our own branch since we looked (--force-with-lease)',
    stderr: rejected('stale info'),
  },
]

const cuts: readonly Omit<Rejection, 'kind'>[] = [
  { situation: 'the connection ends in the middle of a push (daemon), or the process of the server', stderr: HUNG_UP },
  { situation: 'the process of the server ends in the middle of a push (http)', stderr: NOTHING_PUSHED },
  {
    situation: 'the connection ends before an answer (http)',
    stderr: `error: RPC failed; curl 52 Empty reply from server\n${NOTHING_PUSHED}`,
  },
  {
    situation: 'the connection ends in the middle of the answer to a push (http)',
    stderr: 'error: RPC failed; curl 18 transfer closed with outstanding read data remaining\nEverything up-to-date\n',
  },
  {
    situation: 'the connection ends in the middle of a clone (http)',
    stderr:
      "Cloning into 'deploy'...\nerror: RPC failed; curl 18 transfer closed with outstanding read data remaining\nerror: 50 bytes of body are still expected\nfatal: expected flush after ref listing\n",
  },
  {
    situation: 'the connection ends while it begins (ssh); a server with too many of them does so',
    stderr: `kex_exchange_identification: Connection closed by remote host\nConnection closed by 192.0.2.1 port 22\n${NO_ACCESS}`,
  },
  {
    situation: 'the connection ends before the push begins (ssh)',
    stderr: `Connection closed by 192.0.2.1 port 22\n${NO_ACCESS}`,
  },
  {
    situation: 'the connection ends later (ssh)',
    stderr: `Connection to git.example.com closed by remote host.\n${NO_ACCESS}`,
  },
  { situation: 'the connection ends before an answer (daemon)', stderr: NO_ACCESS },
  {
    situation: 'the server is too slow for http.lowSpeedTime',
    stderr:
      "Cloning into 'deploy'...\nerror: RPC failed; curl 28 Operation too slow. Less than 10 bytes/sec transferred the last 2 seconds\nfatal: expected flush after ref listing\n",
  },
  ...[
    'GnuTLS recv error (-54): Error in the pull function.',
    'GnuTLS recv error (-110): The TLS connection was non-properly terminated.',
    'OpenSSL SSL_read: Connection was reset, errno 10054',
    'OpenSSL SSL_read: error:0A000126:SSL routines::unexpected eof while reading, errno 0',
    'OpenSSL SSL_write: Broken pipe, errno 32',
  ].map(words => ({
    situation: `an encrypted connection ends: ${words}`,
    stderr: `error: RPC failed; curl 56 ${words}\n${HUNG_UP}`,
  })),
  ...['Recv failure: Connection reset by peer', 'OpenSSL SSL_connect: Connection reset by peer'].map(words => ({
    situation: `the connection is reset before an answer: ${words}`,
    stderr: `fatal: unable to access '${URL}/': ${words}\n`,
  })),
  ...['https://git.example.com/team/certificates.git/', 'https://certificates.example.com/SSL/TLS.git/'].map(url => ({
    situation: `the connection to ${url} ends`,
    stderr: `fatal: unable to access '${url}': Recv failure: Operation timed out\n`,
  })),
  {
    situation: 'the connection to a server of certificates ends (ssh)',
    stderr: `Connection to certificates.example.com closed by remote host.\n${NO_ACCESS}`,
  },
  ...[429, 500, 502, 503, 504].flatMap(status => [
    {
      situation: `${status} when it is asked`,
      stderr: `fatal: unable to access '${URL}/': The requested URL returned error: ${status}\n`,
    },
    {
      situation: `${status} in answer to the push`,
      stderr: `error: RPC failed; HTTP ${status} curl 22 The requested URL returned error: ${status}\n${NOTHING_PUSHED}`,
    },
  ]),
]

const refusals: readonly Omit<Rejection, 'kind'>[] = [
  {
    situation: 'a pre-receive hook declines',
    stderr: remote('protected branch hook declined') + remoteRejected('pre-receive hook declined'),
  },
  {
    situation: 'an update hook declines',
    stderr: remote('no way', 'error: hook declined to update refs/heads/main') + remoteRejected('hook declined'),
  },
  {
    situation: 'a protected branch (GitHub)',
    stderr:
      remote(
        'error: GH006: Protected branch update failed for refs/heads/main.',
        '',
        '- Changes must be made through a pull request.',
      ) + remoteRejected('protected branch hook declined'),
  },
  {
    situation: 'a rule of the repository (GitHub)',
    stderr:
      remote(
        'error: GH013: Repository rule violations found for refs/heads/main.',
        '',
        '- Changes must be made through a pull request.',
        '',
      ) + remoteRejected('push declined due to repository rule violations'),
  },
  {
    situation: 'a protected branch (GitLab)',
    stderr:
      remote('GitLab: You are not allowed to push code to protected branches on this project.') +
      remoteRejected('pre-receive hook declined'),
  },
  {
    situation: 'a protected branch (Gitea)',
    stderr:
      remote('', 'Gitea: Not allowed to push to protected branch main') + remoteRejected('pre-receive hook declined'),
  },
  {
    situation: 'a protected branch (Azure)',
    stderr: remoteRejected(
      'TF402455: Pushes to this branch are not permitted; you must use a pull request to update this branch.',
    ),
  },
  {
    situation: 'a token that may not write',
    stderr: `remote: Permission to org/deploy.git denied to somebody.\nfatal: unable to access '${URL}/': The requested URL returned error: 403\n`,
  },
  {
    situation: 'a server that takes no pushes (http)',
    stderr: `fatal: unable to access '${URL}/': The requested URL returned error: 403\n`,
  },
  ...[400, 403, 413].map(status => ({
    situation: `${status} in answer to the push`,
    stderr: `error: RPC failed; HTTP ${status} curl 22 The requested URL returned error: ${status}\n${NOTHING_PUSHED}`,
  })),
  {
    situation: 'a deploy key that may not write (GitHub)',
    stderr: `ERROR: The key you are authenticating with has been marked as read only.\n${NO_ACCESS}`,
  },
  {
    situation: 'a push that is too large',
    stderr:
      remote('fatal: pack exceeds maximum allowed size') +
      `error: remote unpack failed: unpack-objects abnormal exit\n${remoteRejected('unpacker error')}`,
  },
  {
    situation: 'a repository on this machine that we may not write to',
    stderr: `error: remote unpack failed: unable to create temporary object directory\n${remoteRejected('unpacker error')}`,
  },
  {
    situation: 'a repository on this machine that belongs to somebody else',
    stderr: `fatal: detected dubious ownership in repository at '/srv/git/deploy.git'\nTo add an exception for this directory, call:\n\n\tgit config --global --add safe.directory /srv/git/deploy.git\n${NO_ACCESS}`,
  },
  {
    situation: 'a branch whose name is a folder of another',
    stderr:
      remote(
        "error: cannot lock ref 'refs/heads/main/x': 'refs/heads/main' exists; cannot create 'refs/heads/main/x'",
      ) + remoteRejected('failed to update ref', 'main/x'),
  },
  { situation: 'a branch that is hidden', stderr: remoteRejected('deny updating a hidden ref') },
  {
    situation: 'a server that takes no rewritten branch',
    stderr:
      remote('error: denying non-fast-forward refs/heads/main (you should pull first)') +
      remoteRejected('non-fast-forward'),
  },
  {
    situation: 'a history that the server cannot complete (a shallow clone of another repository)',
    stderr: remoteRejected('shallow update not allowed'),
  },
  {
    situation: 'a branch that somebody has checked out',
    stderr:
      remote(
        'error: refusing to update checked out branch: refs/heads/main',
        'error: By default, updating the current branch in a non-bare repository',
        'is denied, because it will make the index and work tree inconsistent',
        "with what you pushed, and will require 'git reset --hard' to match",
        'the work tree to HEAD.',
      ) + remoteRejected('branch is currently checked out'),
  },
  {
    situation: 'a checkout with changes (updateInstead)',
    stderr: remoteRejected('Working directory has unstaged changes'),
  },
  {
    situation: 'a checkout with staged changes (updateInstead)',
    stderr: remoteRejected('Working directory has staged changes'),
  },
  {
    situation: 'a checkout with an untracked file in the way (updateInstead)',
    stderr: `error: Untracked working tree file 'kustomization.yaml' would be overwritten by merge.\n${remoteRejected('Could not update working tree to new HEAD')}`,
  },
]

const credentials: readonly Omit<Rejection, 'kind'>[] = [
  {
    situation: 'no password, or one that was sent as a header and not accepted',
    stderr: "fatal: could not read Username for 'https://git.example.com': terminal prompts disabled\n",
  },
  {
    situation: 'a user in the address and no password',
    stderr: "fatal: could not read Password for 'https://somebody@git.example.com': terminal prompts disabled\n",
  },
  { situation: 'a wrong password', stderr: `fatal: Authentication failed for '${URL}/'\n` },
  {
    situation: 'a wrong token (GitLab)',
    stderr: `remote: HTTP Basic: Access denied\nfatal: Authentication failed for '${URL}/'\n`,
  },
  { situation: 'a key that is not known', stderr: `git@git.example.com: Permission denied (publickey).\n${NO_ACCESS}` },
  {
    situation: 'a host that we do not know',
    stderr: `No ED25519 host key is known for git.example.com and you have requested strict checking.\nHost key verification failed.\n${NO_ACCESS}`,
  },
  {
    situation: 'a host that has another key than it had',
    stderr: `@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@\n@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\n@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@\nHost key for git.example.com has changed and you have requested strict checking.\nHost key verification failed.\n${NO_ACCESS}`,
  },
]

const missing: readonly Omit<Rejection, 'kind'>[] = [
  { situation: 'no such repository (http)', stderr: `fatal: repository '${URL}/' not found\n` },
  {
    situation: 'no such repository, or one that we may not see (GitHub)',
    stderr: `remote: Repository not found.\nfatal: repository '${URL}/' not found\n`,
  },
  {
    situation: 'no such repository, or one that we may not see (GitHub, ssh)',
    stderr: `ERROR: Repository not found.\n${NO_ACCESS}`,
  },
  {
    situation: 'no such repository (ssh, file)',
    stderr: `fatal: '/srv/git/deploy.git' does not appear to be a git repository\n${NO_ACCESS}`,
  },
  { situation: 'no such folder', stderr: "fatal: repository '/srv/git/deploy.git' does not exist\n" },
  {
    situation: 'no such repository (daemon), which says the same when it takes no pushes',
    stderr: 'fatal: remote error: access denied or repository not exported: /deploy.git\n',
  },
  {
    situation: 'a page that is no repository',
    stderr: `fatal: ${URL}/info/refs not valid: is this a git repository?\n`,
  },
]

const unreachable: readonly Omit<Rejection, 'kind'>[] = [
  {
    situation: 'no such host (http)',
    stderr: `fatal: unable to access '${URL}/': Could not resolve host: git.example.com\n`,
  },
  {
    situation: 'no such host (ssh)',
    stderr: `ssh: Could not resolve hostname git.example.com: Name or service not known\n${NO_ACCESS}`,
  },
  {
    situation: 'no such host (daemon)',
    stderr: 'fatal: unable to look up git.example.com (port 9418) (Name or service not known)\n',
  },
  {
    situation: 'nobody listens (http)',
    stderr: `fatal: unable to access '${URL}/': Failed to connect to git.example.com port 443 after 0 ms: Couldn't connect to server\n`,
  },
  {
    situation: 'nobody listens (ssh)',
    stderr: `ssh: connect to host git.example.com port 22: Connection refused\n${NO_ACCESS}`,
  },
  {
    situation: 'nobody listens (daemon)',
    stderr: 'fatal: unable to connect to git.example.com:\ngit.example.com[0: 192.0.2.1]: errno=Connection refused\n\n',
  },
  ...[
    'server certificate verification failed. CAfile: none CRLfile: none',
    'SSL certificate problem: unable to get local issuer certificate',
    'SSL: no alternative certificate subject name matches target host name',
    'error setting certificate file: /nowhere.pem',
    'error setting certificate verify locations:\n  CAfile: /nowhere.pem\n  CApath: none',
    'could not load PEM client certificate from /nowhere.pem',
    'Problem with the SSL CA cert (path? access rights?)',
    'schannel: next InitializeSecurityContext failed: SEC_E_UNTRUSTED_ROOT (0x80090325)',
  ].map(words => ({
    situation: `a certificate that is not trusted, or cannot be read: ${words}`,
    stderr: `fatal: unable to access '${URL}/': ${words}\n`,
  })),
  ...[
    'OpenSSL SSL_connect: SSL_ERROR_SYSCALL in connection to git.example.com:443',
    'OpenSSL SSL_read: error:0A00045C:SSL routines::tlsv13 alert certificate required, errno 0',
    'error:0A00010B:SSL routines::wrong version number',
    'TLS connect error: error:0A00010B:SSL routines::wrong version number',
    'schannel: failed to receive handshake, SSL/TLS connection failed',
  ].map(words => ({
    situation: `a server that does not agree on TLS: ${words}`,
    stderr: `fatal: unable to access '${URL}/': ${words}\n`,
  })),
  {
    situation: 'a server that does not speak TLS',
    stderr: `fatal: unable to access '${URL}/': gnutls_handshake() failed: An unexpected TLS packet was received.\n`,
  },
]

const of = (kind: Rejection['kind'], entries: readonly Omit<Rejection, 'kind'>[]): readonly Rejection[] =>
  entries.map(entry => ({ ...entry, kind }))

/** Every way not to succeed that we have seen. */
export const rejections: readonly Rejection[] = [
  ...of('race', races),
  ...of('broken', cuts),
  ...of('refused', refusals),
  ...of('credentials', credentials),
  ...of('missing', missing),
  ...of('unreachable', unreachable),
]
