#!/bin/sh
# Does the work of precompile with shell tools, on two cores: compile, copy, digest, compress.
# usage: precompile.sh <directory of sources> <directory for the results>
set -eu
sources=$1 target=$2
here=$(dirname "$0")
mkdir -p "$target"
cp -r "$sources/." "$target"
node "$here/../../node_modules/sass/sass.js" --no-source-map --quiet "$target/sass:$target/compiled"
rm -r "$target/sass"

cat > "$target.worker" <<'WORKER'
for file do
  sum=$(sha256sum "$file")
  sum=${sum%% *}
  name=${file%.*}
  fingerprinted=$name-$(printf %.32s "$sum").${file##*.}
  cp -p "$file" "$fingerprinted"
  case $file in
    *.css | *.js)
      gzip -9nk "$fingerprinted"
      brotli -kq 11 "$fingerprinted"
      cp "$fingerprinted.gz" "$file.gz"
      cp "$fingerprinted.br" "$file.br"
      ;;
  esac
  echo "$file $fingerprinted $sum"
done
WORKER

find "$target" -type f -print0 | xargs -0 -P2 -n 50 sh "$target.worker" > "$target.manifest"
rm "$target.worker"
