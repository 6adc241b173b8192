-- Why reading waits although the nodes answer: a store or a read model of this system is behind. Null while it does not.
alter table chain_cursors add column waiting text;
