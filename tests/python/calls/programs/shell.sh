# Redirections of what the shell does itself, and of cat, dd, tar and coreutils. $1: a directory.
set -e
cd /
mkdir -p "$1/d/e"
for i in 1 2 3; do echo "line $i" >>"$1/d/log"; done
cat "$1/d/log"
dd if=/usr/bin/env of="$1/program" bs=4096 status=none
dd if="$1/program" of="$1/shifted" bs=1000 seek=3 conv=notrunc status=none
cmp /usr/bin/env "$1/program" && echo same
wc -c "$1/program" "$1/shifted"
cp "$1/program" "$1/d/copy" && cmp "$1/program" "$1/d/copy" && echo copied
mv "$1/d/copy" "$1/d/e/moved"
ls "$1/d" "$1/d/e"
ln -s log "$1/d/link" && cat "$1/d/link" && readlink "$1/d/link"
ln "$1/d/log" "$1/d/second" && stat -c '%h %s %F' "$1/d/second" && rm "$1/d/second"
tar cf "$1/t.tar" -C / etc/hostname etc/passwd
tar tf "$1/t.tar"
mkdir "$1/x" && tar xf "$1/t.tar" -C "$1/x" && cmp "$1/x/etc/passwd" /etc/passwd && echo tarred
tar cf - -C "$1" d | tar tvf - | awk '{print $1, $3, $6}' | sort
{ echo built-in; cat /etc/hostname; } >"$1/out" 2>&1
wc -l <"$1/out"
exec 5>"$1/five"; echo to5 >&5; exec 5>&-; cat "$1/five"
printf 'a\nb\nc\n' >"$1/lines"
{ read -r first; echo "read $first"; cat; } <"$1/lines"
(cd "$1/d" && pwd && cat log && cat ../lines && cd e && ls -l moved | cut -c1-10)
rm -r "$1/x"
ls "$1"
rmdir "$1/d" || echo "status $?"
test -f "$1/lines" && test -d "$1/d" && ! test -e "$1/none" && echo tests
find "$1/d" | sort
cat "$1/none" || echo "status $?"
