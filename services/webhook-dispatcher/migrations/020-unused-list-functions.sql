-- Functions of migration 008 that lists have not used since migration 011.
drop function delivery_rank(text, text, text[], text);
drop function delivery_spans;
