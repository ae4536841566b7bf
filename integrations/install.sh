#!/bin/sh
# Installs the executable of a release, after a check of its checksum; also as `kubectl devctl`.
#   install.sh [VERSION [FOLDER]]      default: the newest release, in ~/.local/bin
# DEVCTL_DOWNLOADS is the address of a copy of the releases.
set -eu

fail() {
  echo "error: $1" >&2
  echo "  = help: $2" >&2
  exit 1
}

version=${1:-latest}
folder=${2:-$HOME/.local/bin}
downloads=${DEVCTL_DOWNLOADS:-https://github.com/devctl/devctl/releases}
system=$(uname -sm)
case $system in
  'Linux x86_64') archive=devctl-linux-amd64.tar.gz ;;
  'Linux aarch64') archive=devctl-linux-arm64.tar.gz ;;
  *) fail "there is no executable for $system" 'use Node.js: npm install --global devctl' ;;
esac
# The rest runs in a temporary folder.
case $folder in
  /*) ;;
  *) folder=$PWD/$folder ;;
esac
for name in devctl kubectl-devctl; do
  [ ! -d "$folder/$name" ] || fail "$folder/$name is a folder" 'remove it, or install in another folder: install.sh VERSION FOLDER'
done
case $version in
  latest) release=$downloads/latest/download ;;
  *) release=$downloads/download/v${version#v} ;;
esac

temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
cd "$temporary"
for name in SHA256SUMS "$archive"; do
  curl --fail --silent --show-error --location --retry 3 --connect-timeout 20 --max-time 600 --output "$name" "$release/$name" ||
    fail "could not download $release/$name" 'check the version and the connection'
done
grep " $archive\$" SHA256SUMS >expected || fail "SHA256SUMS of $release does not have $archive" 'report it'
sha256sum -c expected >/dev/null 2>&1 ||
  fail "$archive does not have the checksum in SHA256SUMS" 'download it again; if it still differs, report it'
tar -xzf "$archive" devctl
./devctl --version >version 2>&1 ||
  fail "the executable does not run here: $(head -n 1 version)" 'it needs glibc, which Alpine does not have; use Node.js: npm install --global devctl'

mkdir -p "$folder"
# A rename: programs that run the old version keep it.
cp devctl "$folder/.devctl.$$"
mv "$folder/.devctl.$$" "$folder/devctl"
ln -sf devctl "$folder/kubectl-devctl"
installed=$("$folder/devctl" --version 2>&1) ||
  fail "$folder/devctl does not run: $(echo "$installed" | head -n 1)" 'check that the file system allows executables (mount option noexec)'
echo "$installed is installed in $folder"
