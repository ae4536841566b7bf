import type { Recipe } from '../recipe.ts'

/** Recipe of CONTRIBUTING.md, "Settings of the platform": the address of its operators, which administrators see. */
export const setting: Recipe = {
  edits: [
    [
      'cli/commands/platform/platform.ts',
      '  replicas: text(',
      "  contact: text('--contact <address>', 'address of the people who operate the platform; `-` removes it'),\n",
    ],
    [
      'cli/run/platform/platform-install.ts',
      '    kubernetes: { server: withoutSlash(',
      "    ...(values.contact !== undefined && { contact: values.contact === '-' ? '' : values.contact }),\n",
    ],
    [
      'platform/install/manifests/server.ts',
      '  /** Address of the API server for programs of users. */\n',
      '  /** Address of the operators; empty for none. If absent, the installed setting is kept. */\n  readonly contact?: string\n',
    ],
    [
      'platform/install/manifests/server.ts',
      '  ...(one.bundledBuilders && {\n    bundledBuilders: ',
      '  ...(one.contact !== undefined && { contact: one.contact }),\n',
    ],
    ['platform/rules/setting-keys.ts', '  deleteHours: ', '  contact: undefined,\n'],
    [
      'platform/server/context.ts',
      '  /** Settings of runs; absent',
      '  /** Address of the operators of the platform. */\n  readonly contact?: string\n',
    ],
    [
      'platform/server/settings.ts',
      "    ...(found['runs'] !== undefined",
      "    ...(found['contact'] !== undefined && found['contact'] !== '' && { contact: textOf('contact') }),\n",
    ],
    ['platform/api/admin.ts', '  registryTokens: Type.Boolean(),\n', '  contact: Type.Optional(Type.String()),\n'],
    [
      'platform/server/handlers/admin.ts',
      '    registryTokens: registryTokens === true,\n',
      '    ...(settings.contact !== undefined && { contact: settings.contact }),\n',
    ],
    ['platform/web/pages/admin/settings.tsx', 'trustedProxies, ...networks }', 'contact, '],
    [
      'platform/web/pages/admin/settings.tsx',
      "        ['API server', ",
      "        ['Operators', 'contact', contact ?? 'none'],\n",
    ],
    [
      'docs/platform/operate.md',
      'The server reads them when it starts: ',
      '`--contact ADDRESS` of `devctl platform install` says who operates the platform (`contact`).\n\n',
    ],
    ['test/unit/cli/complete/declarations.test.ts', "    '--address <address>',\n", "    '--contact <address>',\n"],
    [
      'test/unit/platform/server/settings.test.ts',
      "  [{ url: 1 }, '`url` is not text'],\n",
      "  [{ contact: 1 }, '`contact` is not text'],\n",
    ],
    [
      'test/unit/platform/rules/setting-keys.test.ts',
      "    trustedProxies: ['10.0.0.1'],\n",
      "    contact: 'ops@example.com',\n",
    ],
    [
      'test/unit/platform/overview.test.ts',
      '      sleepHours: { preview: 0.5 },\n',
      "      contact: 'ops@example.com',\n",
    ],
    ['test/unit/platform/overview.test.ts', '    registryTokens: false,\n  })\n', "    contact: 'ops@example.com',\n"],
    [
      'test/unit/platform/web/pages/admin.test.ts',
      "    clusterNetworks: ['10.42.0.0/16'],\n",
      "    contact: 'ops@example.com',\n",
    ],
    ['test/unit/platform/web/pages/admin.test.ts', "    'trustedProxies none',\n", "    'contact ops@example.com',\n"],
  ],
}
