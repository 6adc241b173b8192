-- Payment pages have deposit addresses of their own from here on, so an order can have two addresses on a network.
alter table deposit_addresses add column rail text not null default 'crypto_deposit';
alter table deposit_addresses drop constraint deposit_addresses_pkey;
alter table deposit_addresses add primary key (order_id, network, rail);

-- Whether the address is behind a payment page.
alter table payables add column hosted boolean not null default false;
alter table payables alter column hosted drop default;
-- Instances of earlier versions would project orders without the addresses of their pages, and reserve these addresses again. They are
-- refused until they are replaced.
create function refuse_earlier_payables() returns trigger language plpgsql as $$
begin
  raise exception 'a newer version projects payables' using errcode = '57P03';
end $$;
create trigger payables_of_earlier_versions before insert on payables
  for each row when (new.hosted is null) execute function refuse_earlier_payables();
