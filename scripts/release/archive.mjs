import { readdirSync } from 'node:fs'
import { run } from '../executable/run.mjs'

/** Puts the files of a folder into a .tar.gz file, which is the same for the same files on every machine. */
export function archive(folder, path) {
  const always = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner', '--mode=u+rw,go=rX']
  const words = [...always, '--use-compress-program=gzip -n', '-cf', path, '-C', folder, ...readdirSync(folder).sort()]
  run('tar', words)
}
