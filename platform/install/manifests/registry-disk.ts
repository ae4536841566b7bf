import { REGISTRY_DISK } from '../../records/names.ts'

/**
 * Returns a shell script that prints a line of JSON (parsed by `rules/registry-disk`): the size of the disk, and the
 * size of the images in each namespace's part of the registry. It counts all linked blobs, including those that belong
 * to no image, and uploads in progress. Many small files also use up the disk and its inodes, so each blob counts at
 * least 64 KiB, each further link, such as a tag or the same layer in another repository, 32 KiB, and each part of the
 * state of an upload 4 KiB.
 */
export const measureDisk = (root: string): string => `cd ${root} || exit 1
v2=docker/registry/v2
{
  df -P -k . | awk 'NR == 2 { print "disk", $2, $4 }'
  [ ! -d $v2/blobs ] || find $v2/blobs -type f -name data -printf 'blob %s %P\\n'
  [ ! -d $v2/repositories ] || find $v2/repositories -type f \\( -name link -o -path '*/_uploads/*' \\) -printf 'link %s %P\\n'
} | awk -v at="$(date +%s)" '
  $1 == "disk" { size = $2 * 1024; free = $3 * 1024 }
  $1 == "blob" { n = split($3, path, "/"); bytes[path[n - 1]] = $2 }
  $1 == "link" {
    n = split($3, path, "/")
    place = path[1]
    least = 65536
    if ($3 ~ /\\/_uploads\\//) { count = $2; if (path[n] != "data") least = 4096 }
    else if ($3 ~ /\\/_manifests\\/tags\\// || (place, path[n - 1]) in seen) { count = 0; least = 32768 }
    else { seen[place, path[n - 1]] = 1; count = bytes[path[n - 1]] }
    used[place] += count < least ? least : count
  }
  END {
    printf "{\\"size\\":%.0f,\\"free\\":%.0f,\\"at\\":%.0f,\\"places\\":{", size, free, at
    for (place in used) { printf "%s\\"%s\\":%.0f", comma, place, used[place]; comma = "," }
    print "}}"
  }'
`

/** Memory that a measurement may use, in KiB: less than the limit of the container. */
const MEMORY_KIB = 200 * 1024

/**
 * Returns the sidecar container of the registry that logs a measurement every minute. It uses the image of the
 * registry, which contains the necessary programs.
 */
export const diskContainer = (image: string): object => ({
  name: REGISTRY_DISK.container,
  image,
  // Each measurement runs in its own shell, so a failure does not end the loop. Without `ulimit`, very many blobs would
  // exceed the limit of the container, whose end would take the registry offline.
  command: ['sh', '-c', `while :; do sh -c "ulimit -v ${MEMORY_KIB}; $MEASURE"; sleep 60; done`],
  env: [{ name: 'MEASURE', value: measureDisk('/data') }],
  resources: { requests: { cpu: '5m', memory: '16Mi' }, limits: { memory: '256Mi' } },
  securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
  volumeMounts: [{ name: 'data', mountPath: '/data', readOnly: true }],
})
