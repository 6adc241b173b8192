-- How the payment page looks for a merchant. Without a row it has the name of the merchant's profile and no logo.
create table payment_page_settings (
  merchant_id text primary key references merchants (id),
  display_name text,
  accent_color text,
  -- Origins whose pages may embed the payment page; empty means none.
  frame_ancestors text[] not null,
  -- A PNG that the gateway encoded, and the SHA-256 of its bytes.
  logo bytea,
  logo_hash text,
  updated_at timestamptz not null,
  check ((logo is null) = (logo_hash is null))
);
create index payment_page_logos on payment_page_settings (logo_hash) where logo_hash is not null;
