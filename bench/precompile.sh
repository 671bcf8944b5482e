#!/bin/sh
# What precompile does, as a shell would: compile, copy, digest, compress, on two cores.
# usage: precompile.sh <directory of sources> <directory for the results>
set -eu
sources=$1 target=$2
here=$(dirname "$0")
mkdir -p "$target"
cp -r "$sources/." "$target"
node "$here/../node_modules/sass/sass.js" --no-source-map --quiet "$target/sass:$target/compiled"
rm -r "$target/sass"

cat > "$target.worker" <<'WORKER'
for file do
  sum=$(sha256sum "$file")
  sum=${sum%% *}
  name=${file%.*}
  printed=$name-$(printf %.32s "$sum").${file##*.}
  cp -p "$file" "$printed"
  case $file in
    *.css | *.js)
      gzip -9nk "$printed"
      brotli -kq 11 "$printed"
      cp "$printed.gz" "$file.gz"
      cp "$printed.br" "$file.br"
      ;;
  esac
  echo "$file $printed $sum"
done
WORKER

find "$target" -type f -print0 | xargs -0 -P2 -n 50 sh "$target.worker" > "$target.manifest"
rm "$target.worker"
