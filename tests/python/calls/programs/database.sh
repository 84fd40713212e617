# Databases in each of SQLite's ways to keep its journal: locks, maps (wal), truncation and unlinking. $1: a directory.
for mode in delete truncate persist memory wal; do
    sqlite3 "$1/$mode.db" "pragma journal_mode=$mode; create table t(a integer primary key, b text);
        insert into t(b) values('x'),('y'); begin; insert into t(b) select b||a from t; commit; begin; delete from t; rollback;
        select count(*), group_concat(b) from t;"
    sqlite3 "$1/$mode.db" "with recursive c(x) as (select 1 union all select x+1 from c where x<5000)
        insert into t(b) select 'row'||x from c; select count(*) from t; pragma integrity_check; vacuum;
        create index i on t(b); select a from t where b='row77';"
done
ls "$1"
for i in 1 2 3 4 5; do sqlite3 -cmd ".timeout 60000" "$1/delete.db" "insert into t(b) values('p$i')" & done
wait
sqlite3 "$1/delete.db" "select count(*) from t where b like 'p_'; pragma integrity_check"
