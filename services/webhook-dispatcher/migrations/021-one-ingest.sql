-- Every ingest calls `ingest`, and waits for the disk. So none has a number.
drop function take_in, ingest_event, ingest_unflushed;
alter table instances drop column ingests;
