-- Deletions whose request may have got no answer: a repeat of the request is 200 once more, as the first one would have been.

-- Whether the stored responses of a deleted order are deleted. The row stays for two days if the request got no answer.
alter table order_deletions add column completed boolean not null default false;

alter table webhooks add column deletion_answered boolean not null default true;
