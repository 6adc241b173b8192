-- By source of exchange rates: the last price of a currency in US dollars that was believed.
create table accepted_prices (
  currency text not null,
  source text not null,
  -- A decimal number.
  usd text not null,
  at timestamptz not null,
  primary key (currency, source)
);
