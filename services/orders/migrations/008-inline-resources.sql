-- Keeps `resource` of rows up to 8 KB uncompressed. A typical order has 1.9 KB, just enough to be compressed at each write, and a page of
-- 100 orders decompressed all of them. Existing rows stay as they are until they are written again.
alter table orders set (toast_tuple_target = 8160);
