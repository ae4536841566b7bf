import { readdirSync } from 'node:fs'
import { run } from '../executable/run.mjs'

/** Writes the files of a folder to a .tar.gz archive. Equal files give an equal archive on every machine. */
export function archive(folder, path) {
  const always = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner', '--mode=u+rw,go=rX']
  const words = [...always, '--use-compress-program=gzip -n', '-cf', path, '-C', folder, ...readdirSync(folder).sort()]
  run('tar', words)
}
