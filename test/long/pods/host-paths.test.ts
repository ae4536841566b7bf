import { execFileSync } from 'node:child_process'
import { afterAll, describe, expect, test } from 'vitest'
import { findCluster } from '../../support/cluster/cluster.ts'
import { withProject } from '../../support/cluster/project.ts'

const found = findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined

const SLEEP =
  'image: busybox:1.37\n    command: [sh, -c, "trap \'exit 0\' TERM; sleep 3600 & wait"]\n    stop_grace_period: 1s'

describe.skipIf(cluster === undefined)('host paths in Pods', () => {
  afterAll(() => cluster?.close())

  test('a folder as a claim, a copied folder and a key file are readable in Pods', () =>
    withProject(cluster!, async project => {
      const { compose, write, devctl, kubectl, directory } = project
      compose(`
services:
  web:
    ${SLEEP}
    volumes:
      - ./conf:/etc/app
      - ./own.conf:/etc/app/b.conf:ro
      - ./demo.pem:/etc/app/tls/demo.pem
      - scratch:/etc/app/scratch
      - ./data:/data
    configs: [{ source: extra, target: /etc/app/extra.conf, mode: 0440 }]
    tmpfs: /etc/app/run
  reader:
    ${SLEEP}
    volumes: ["./data/in:/in:ro", "./demo.pem:/demo.pem:ro"]
volumes: { scratch: {} }
configs: { extra: { content: extra } }
`)
      write('conf/a.conf', 'a')
      write('conf/b.conf', 'hidden')
      write('conf/deep/er/näh c.conf', 'c')
      write('conf/run.sh', '#!/bin/sh\necho ran')
      write('own.conf', 'own')
      write('demo.pem', 'pem')
      const git = (...words: string[]) => execFileSync('git', ['-C', directory, ...words])
      git('init', '--quiet')
      git('add', '.')
      git('update-index', '--chmod=+x', 'conf/run.sh')
      write('data/left-here', 'not in the cluster')
      write('conf/.env', 'A=1')

      const { status, stderr } = await devctl('deploy', '--wait')
      expect(status, stderr).toBe(0)
      expect(stderr).toContain('are left out: `.env`')
      const sh = (workload: string, script: string) => kubectl('exec', workload, '--', 'sh', '-c', script)
      // The folder `in` exists because the other service mounts it.
      const script = `cd /etc/app; cat a.conf b.conf deep/er/*.conf tls/demo.pem extra.conf; ./run.sh; ls -a | grep -c env
        for folder in scratch run /data; do echo 1 > $folder/new && cat $folder/new; done; ls /data; mkdir -p /data/in; echo shared > /data/in/x`
      expect(await sh('statefulset/web', `${script}; true`)).toBe('aowncpemextraran\n0\n1\n1\n1\nin\nnew\n')
      expect(await sh('statefulset/reader', 'cat /demo.pem')).toBe('pem')
      expect(await sh('statefulset/reader', 'cat /in/x')).toBe('shared\n')
    }))
})
