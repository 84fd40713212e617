# Redirections of a shell that writes by streams itself (bash), and of programs that do. $1: a directory.
cd /
mkdir -p "$1/d"
for i in $(seq 300); do echo "line $((i * 7919 % 300)) of many"; done >"$1/d/lines"
sort "$1/d/lines" | tail -n 3
sort -n -k2 <"$1/d/lines" >"$1/d/sorted"
sort -o "$1/d/lines" "$1/d/lines" && md5sum <"$1/d/lines"
head -n 2 <"$1/d/sorted" && tail -n 2 "$1/d/sorted" && head -c 17 "$1/d/sorted" && echo && tail -c 9 <"$1/d/sorted"
{ head -n 3; echo between; cat | wc -l; } <"$1/d/sorted"
cut -d' ' -f2 "$1/d/sorted" | paste -s -d, | cut -c1-60
uniq -c -f 2 "$1/d/sorted"
seq 100000 >"$1/numbers" && wc "$1/numbers" && sha256sum "$1/numbers" | cut -c1-20
tee "$1/one" "$1/two" <"$1/d/sorted" | wc -l && cmp "$1/one" "$1/two" && echo tee
nl "$1/two" | sed -n 5p
sed -i 's/line/LINE/' "$1/two" && grep -c LINE "$1/two"
grep -n 'line 7 ' "$1/one"
awk '{ print $2 > "'"$1"'/" ($2 % 2 ? "odd" : "even") } END { print NR }' "$1/one" && wc -l "$1/odd" "$1/even"
awk 'END { print $0 }' <"$1/odd"
split -l 100 "$1/one" "$1/part." && ls "$1"/part.* | sed 's/.*part/part/'
cat "$1"/part.* | cmp - "$1/one" && echo split
printf '%s\n' printed by printf >"$1/printf" && cat "$1/printf"
exec 4>"$1/four"; echo to four >&4; printf 'and %d\n' 4 >&4; ls -d / >&4; exec 4>&-; cat "$1/four"
exec 5<>"$1/both"; echo both ways >&5; cat "$1/both"; exec 5>&-
while read -r first rest; do echo "$rest"; done <"$1/printf"
mapfile -t all <"$1/d/sorted" && echo "${#all[@]} ${all[299]}"
{ echo out; echo err >&2; } >"$1/joined" 2>&1 && cat "$1/joined"
{ ls "$1/no such file" || echo "status $?"; } 2>"$1/errors"; sed "s|$1|DIRECTORY|" "$1/errors"
(echo in a subshell; exec echo by another) >"$1/subshell" && cat "$1/subshell"
diff "$1/one" "$1/two" | head -n 2
od -An -c "$1/printf" | head -n 1
tr a-z A-Z <"$1/printf" >"$1/upper" && rev "$1/upper"
comm -12 <(sort "$1/one") <(sort "$1/d/lines") | wc -l
find "$1/d" -type f -fprintf "$1/found" '%f %s\n' && sort "$1/found"
dd if="$1/numbers" bs=1000 count=3 skip=2 2>/dev/null | cksum
gzip -c <"$1/numbers" >"$1/numbers.gz" && gunzip -c "$1/numbers.gz" | cmp - "$1/numbers" && echo gzip
xargs -n 2 echo <"$1/printf"
expr $(stat -c %s "$1/numbers") + 0
ls "$1"
