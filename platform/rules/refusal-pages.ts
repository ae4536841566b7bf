/**
 * Error codes of the platform, with their pages for `devctl explain platform/CODE`. The server can send only these
 * codes, because their type is derived from this object. `docs/diagnostics` contains all pages.
 */
export const REFUSAL_PAGES = {
  approval:
    'A commit of a fork was not approved: another commit waits now, because somebody has pushed since, or the request is closed, or nothing waits. An approval is for exactly one commit, so that nothing is deployed that nobody has read.\n\n`devctl preview hook list` shows the commit that waits. Read its changes, then approve it with its full hash.',
  busy: 'The platform has reached a limit for now, or somebody else changes the same object or works in the namespace. Limits keep one person from using up the memory of the server; docs/platform/operate.md lists them under Memory.\n\nTry again in a moment. Close pages and commands that follow a log if you have many of them. A namespace is put to sleep when its deploys have finished and its development containers have ended (`devctl down`).',
  ci: 'A CI job tried to log in with the token of its CI system, and the platform does not accept it: the platform does not trust its issuer, its audience is not the URL of the platform, it has expired, or its signature is wrong. The message says which.\n\nIn GitHub Actions, the job needs `permissions: {id-token: write}`; in GitLab, `id_tokens: {DEVCTL_ID_TOKEN: {aud: URL}}` with the URL of the platform. An administrator of the cluster adds an issuer with `devctl platform install … --ci KIND=URL,…`.',
  'ci-issuer':
    'The platform checks the token of a CI job with the keys that the CI system publishes, and could not get them. Nothing is wrong with the job.\n\nTry again. If it stays like this, the server cannot reach the address in the message: check DNS, its network policy, and the certificate of the CI system (`--ca` of `devctl platform install`).',
  'ci-rule':
    'The token of a CI job is valid, but no rule of the platform allows this repository, branch and event. The notes have the numbers that a rule names.\n\nAn administrator of the cluster adds a rule: `devctl platform install … --ci github,repository=123456,ref=refs/heads/*,prefix=shop-pr-`. The rules that there are have to be named again.',
  cluster:
    'The platform got no answer from the API server of the cluster, or the API server refused what the platform asked for. The status is 503 in the first case and 502 in the second.\n\nTry again in a moment. If the API server refuses something repeatedly, the platform may have been changed by hand: `devctl platform install` restores its objects.',
  code: 'The code of a login is wrong, was used before, or has expired. A code works once, and for a few minutes.\n\nRun `devctl context use URL` again, which shows a new code.',
  deleting:
    'The namespace is being deleted, so nothing new can start in it, and its name is not free yet.\n\nWait until it is gone: `devctl namespace list`. If its status is `DeleteFailed`, one of its `destroy` commands has failed: try again with `devctl namespace delete NAME`, or skip the commands with `--force`.',
  device:
    'A login with a typed code was not completed in time, or was completed already.\n\nRun `devctl context use URL` again, and enter the code within ten minutes.',
  exists:
    'The name is taken: by a namespace or preview of somebody else, by a preview of another repository or scope, by the prefix of another webhook, or because one of its hosts is in use in a namespace with a shorter name.\n\nChoose another name: `devctl namespace create NAME`, `devctl preview deploy NAME`, or `--prefix` for a webhook.',
  forge:
    'The server of the repository refused a request of the platform, did not answer in time, or is one that the platform does not ask. The platform asks only servers that its settings name, and github.com, gitlab.com and codeberg.org.\n\nCheck the address, and that the token may read the repository, its requests, and who may write. An administrator of the cluster names a server with `devctl platform install … --forge gitea=https://git.example.com`.',
  gone: 'The client closed the connection before the request had its turn. The request was not handled.\n\nNothing has to be done. If it happens often, a proxy in front of the platform may close connections too early.',
  host: 'Credentials are stored by the host of a forge, and this is not a host.\n\nWrite it in lower case, without `https://` and without a path; a port is allowed: `devctl credentials set git.example.com`.',
  internal:
    'Something failed in the platform that should not. The response has no details, because they could disclose something.\n\nTell the operator the time: the log of the server has the error (`kubectl --namespace devctl-platform logs deployment/platform`).',
  'kept-name':
    'Names with this prefix are reserved: for the jobs of a repository by a rule of the platform (`ci` of its settings), or for the previews of a webhook. Otherwise somebody could take such a name first, and block a preview or imitate it.\n\nChoose another name or prefix. Administrators can use reserved names.',
  keys: 'The platform cannot decrypt what it has stored, because the key with which it was sealed is missing. Keys are in the Secret `keys` of `devctl-platform`.\n\nAn operator restores the missing key from a copy. Without one, set the value again: for a webhook, remove it (`devctl preview hook remove`) and add it with a new token.',
  link: 'A setup link or an invitation works once, and for an hour. This one was used before, or has expired.\n\nAn administrator creates another one with `devctl platform invite NAME`.',
  login:
    'The request has no valid login: there was no token, or it is wrong, has expired or was deleted; or the provider of the login does not know the person any more, or was not asked for 30 days.\n\n`devctl context use URL` logs in. Programs set `DEVCTL_URL` and `DEVCTL_TOKEN`; the page `Tokens` creates such a token.',
  name: 'The name cannot be used for a namespace, a variable or the prefix of a webhook. The message says why. Names of variables that shells, loaders and tools read (`PATH`, `LD_*`, `GIT_*`, …) are refused, because a member could run something on the machines of the others with them.\n\nChoose another name. Names of namespaces have lower-case letters, digits and dashes; a prefix ends with a dash.',
  'no-builders':
    'The platform has no builders, or none for code of forks, which never shares builders with other code.\n\nBuild elsewhere: with a Docker Engine, with `BUILDKIT_HOST`, or with the builder of the context (`devctl context use URL --builder tcp://…`). An administrator of the cluster installs builders with `devctl platform install … --builders 2`, and those for forks with `--untrusted-builders 1`.',
  'no-credential':
    'There is no credential for this host. Credentials of a namespace and your own are separate.\n\n`devctl credentials list` shows both; `--user` means your own.',
  'no-environment':
    'The namespace has no environment of this name: nothing was deployed under it, or it was destroyed.\n\n`devctl deploy` creates it.',
  'no-hook':
    'There is no such webhook, or it belongs to somebody else.\n\n`devctl preview hook list` lists yours; administrators see all of them.',
  'no-namespace':
    'The namespace does not exist, or you are not a member of it. The response is the same in both cases, so that names are not disclosed.\n\n`devctl namespace list` lists yours. Its owner can share it: `devctl namespace share NAME USER`.',
  'no-preview':
    'The preview does not exist, or you may not see or approve it. The response is the same in both cases, so that names are not disclosed.\n\n`devctl preview list` lists those that you may see. To approve a commit of a fork, you need the right to write to the repository, with your own login for its host: `devctl credentials set HOST --user`.',
  'no-provider':
    'The address of a login names a provider that the platform does not have. It may have been removed.\n\nOpen the address of the platform, which shows the ways to log in.',
  'no-registry':
    'The platform has no registry to which its members log in with their accounts of the platform.\n\nPush with a login of your own. An administrator of the cluster installs one (`devctl platform install … --bundled-registry`), or names one that trusts the platform (`--registry HOST --registry-tokens`).',
  'no-route':
    'The platform has nothing at this address. Between versions, routes are added and removed: the command line may be newer than the platform.\n\nCompare `devctl version` with the version that `devctl platform status` shows, and upgrade the older of the two.',
  'no-run':
    'The run does not exist, or you are not a member of its namespace. Only the last ten runs of an environment, and the last hundred of a namespace, are kept.\n\n`devctl pipeline list` lists those of a namespace.',
  'no-runner':
    'The platform was installed without an image for runs, so it can neither deploy from git nor have previews.\n\nAn administrator of the cluster builds and pushes the image (docs/platform/install.md), and runs `devctl platform install` again.',
  'no-service':
    'The environment has no service of this name, or the service does not run.\n\n`devctl ps` lists the services of an environment, and `devctl deploy` starts them.',
  'no-token':
    'You have no such token. It may have been deleted, or have expired.\n\nThe page `Tokens` lists yours, and creates others.',
  'no-user':
    'No such user has logged in to the platform, or their record was deleted.\n\nThe page `People` of administrators lists everybody who has logged in. `devctl platform invite NAME` lets somebody in who has no account at a provider.',
  'no-variable':
    'There is no variable of this name. Those of a namespace, of a person and of everybody are separate.\n\n`devctl variables list` shows all that apply, and where each comes from.',
  'not-allowed':
    'You are logged in, but your role, or the kind of your token, does not allow this. The message says who may do it. Viewers only look; developers also deploy; the owner also shares and deletes; some changes are only for administrators. Tokens of runs, of CI jobs and of programs may do less than a person.\n\nAsk the owner of the namespace for another role (`devctl namespace share NAME USER --role developer`), or an administrator. `devctl context use URL` logs in as a person.',
  origin:
    'A request with the login of a browser did not come from a page of the platform. Pages of applications, and of other servers, cannot use your login.\n\nUse the pages of the platform. Programs send a token in the header `Authorization` instead.',
  'other-repository':
    'A delivery is about another repository than the one for which the webhook was added, or the address of the repository belongs to another one now. A webhook is bound to the number of its repository, because names can be reused.\n\nAdd a webhook for that repository: `devctl preview hook add URL`.',
  owner:
    'A namespace has exactly one owner, who is always a member.\n\nTo make somebody else the owner, an administrator runs `devctl namespace share NAME USER --role owner`; the previous owner stays a developer.',
  queue:
    'You have as many waiting runs as one person may have, or many of your runs have just ended and are being removed.\n\nWait for one of them, or cancel one that is not needed; `devctl pipeline list` shows them.',
  quota:
    'You, the namespace or the webhook has as many of these as allowed: namespaces, previews, webhooks, tokens for programs, variables, credentials, or gibibytes in the registry. The message says of what, and how many. A namespace counts until it is deleted.\n\nRemove what is not needed: `devctl namespace delete NAME`, `devctl preview destroy NAME`, `devctl preview hook remove ID`. An operator raises some of the limits in the settings (`namespacesPerUser`, `previewsPerUser`, `registryShare`).',
  refused:
    'Somebody pressed `Refuse` on the page that asked whether this machine may log in.\n\nIf that was a mistake, run `devctl context use URL` again, and compare the code.',
  registry:
    'A client requested a token for another registry than that of the platform, or with too many scopes or none.\n\nSet `service` and `realm` of the registry as docs/platform/builds.md shows (A registry of your own).',
  replayed:
    'The platform has received this delivery of a webhook before. A copied delivery has no effect.\n\nNothing has to be done. To deploy again, push, or approve the commit again.',
  repository:
    'A run cannot clone this repository, branch or file: the address is not a valid HTTPS URL, contains a password, is for ssh, or a name has characters that are not allowed.\n\nWrite the HTTPS address, `https://git.example.com/team/shop`, and give the platform the password for its host: `devctl credentials set git.example.com`.',
  request:
    'The request does not have the form that the API expects: a field is missing, unknown, or has another type, or the body is too large. The message names the field.\n\nIf devctl itself gets this error, it has another version than the platform: upgrade the older of the two.',
  self: 'Administrators cannot change their own role or suspend themselves, so that a platform is not left without one by mistake.\n\nAnother administrator can do it. `devctl platform admin add USER`, with the rights of a cluster administrator, makes somebody an administrator.',
  signature:
    'A delivery is not signed with the secret of its webhook, or the signature is too old. Everybody can send requests to this address, so nothing without a signature is believed.\n\nSet the secret at the forge that `devctl preview hook add` has shown. If it is lost, remove the webhook and add it again.',
  'source-url':
    'The URL that a preview shows as its source cannot be a link: it does not begin with `https://`, or contains a user or a password.\n\nName the page of the request: `--source-url https://git.example.com/team/shop/pulls/7`.',
  suspended:
    'An administrator has suspended this account. Its logins, tokens and runs have ended; its namespaces stay.\n\nAsk an administrator, who can restore it on the page `People`.',
  'too-many':
    'There were too many attempts to log in, too many deliveries of webhooks, or too many requests at the same time. Limits apply to each person, address or repository, so that one of them does not stop the others; docs/platform/install.md lists those of logins.\n\nWait as long as the hint says, and send fewer requests at the same time.',
  untrusted:
    'Code of a fork and your own code never share a namespace: the one could read the secrets of the other.\n\nDeploy your own code to another namespace. To use the name of a preview for the other kind of code, destroy it first: `devctl preview destroy NAME`.',
  upgrade:
    'This address is for connections to builders, and the request did not ask for one. A proxy or ingress controller in front of the platform may have removed the header `Upgrade: devctl-tunnel`.\n\nConfigure the proxy to forward this header; Traefik does. Until then, build with another builder: `BUILDKIT_HOST`.',
  value:
    'A value cannot be stored: a variable has more than 16 KiB or a zero byte, a user or password has a line end or a control character, or a token has spaces or special characters.\n\nCheck that nothing else was copied with it. A large file is better in a Secret or a volume.',
} as const satisfies Readonly<Record<string, string>>

/** Part of an error code after `platform/`. */
export type RefusalCode = keyof typeof REFUSAL_PAGES

/** True if a full error code has a page. A newer platform can send codes that have no page here. */
export const isExplained = (code: string): boolean =>
  code.startsWith('platform/') && Object.hasOwn(REFUSAL_PAGES, code.slice('platform/'.length))

/** Returns the pages with their full codes, in the format of the catalogue of diagnostics. */
export const explainedRefusals = () =>
  Object.entries(REFUSAL_PAGES).map(([code, explain]) => ({
    code: `platform/${code}`,
    severity: 'error' as const,
    explain,
  }))
